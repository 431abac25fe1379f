import { newborn } from './timing.ts';

/** Ledgers known by name. A process meets a new one with each rollout, and nobody tells it that one is gone. */
const MOST_NAMED = 20_000;

/**
 * Which ledgers this process must list before it believes them: those it decided without (`one`), and all of them
 * once a connection was lost (`all`), because what Redis answered may have been lost with it. Events are counted, and
 * a ledger is clean up to a count: a single flag would be cleared for all by the first that is listed.
 */
export class DirtyMarks {
  #count = 0;
  #allAt = 0;
  #allSinceMs = Number.POSITIVE_INFINITY;
  readonly #oneAt = new Map<string, number>();
  readonly #cleanAt = new Map<string, number>();

  get epoch(): number {
    return this.#count;
  }

  one(ledger: string): void {
    this.#oneAt.set(ledger, ++this.#count);
    // Too many to name: then it is all of them.
    if (this.#oneAt.size > MOST_NAMED) this.all();
  }

  all(): void {
    this.#allAt = ++this.#count;
    this.#allSinceMs = Number.POSITIVE_INFINITY;
    this.#oneAt.clear();
    this.#cleanAt.clear();
  }

  /** The ledger's clock, read after the last `all`: what was made well after it lost nothing by it. */
  allBefore(nowMs: number, epoch: number): void {
    if (this.#allAt <= epoch && nowMs < this.#allSinceMs) this.#allSinceMs = nowMs;
  }

  /** The ledger was listed by a LIST that began when the count was `epoch`. */
  clean(ledger: string, epoch: number): void {
    if ((this.#oneAt.get(ledger) ?? 0) <= epoch) this.#oneAt.delete(ledger);
    // Before the last `all` it is of no use, and after none needed.
    if (epoch >= this.#allAt && this.#allAt > 0) this.#cleanAt.set(ledger, epoch);
    if (this.#cleanAt.size <= MOST_NAMED) return;
    // The oldest costs a LIST, should it be asked for again.
    const [oldest = ledger] = this.#cleanAt.keys();
    this.#cleanAt.delete(oldest);
  }

  isDirty(ledger: string, createdAtMs?: number): boolean {
    if (this.#oneAt.has(ledger)) return true;
    if (this.#allAt === 0 || this.#cleanAt.has(ledger)) return false;
    return createdAtMs === undefined || createdAtMs <= this.#allSinceMs + newborn.clockMarginMs;
  }

  forget(ledger: string): void {
    this.#oneAt.delete(ledger);
    this.#cleanAt.delete(ledger);
  }
}
