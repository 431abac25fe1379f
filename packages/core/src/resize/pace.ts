import type { ModuleName, ResizePurpose } from '../disruption/intent.ts';

/** 10 a second. */
const EACH_MS = 100;
const BURST = 50;
/** Of each ten patches so many are right-sizing's while it waits, whatever is more urgent: 3 a second. */
const RIGHTSIZING_OF_TEN = 3;

/** In the order of their urgency. */
const lanes = ['restore', 'outOfMemory', 'size'] as const;

export interface Paced {
  readonly module: ModuleName;
  readonly purpose: ResizePurpose;
}

/**
 * The one pace of all patches of `pods/resize`: 10 a second, 50 at once after a rest. What gives something back goes
 * first, then raises after an OOM kill, then the rest in the order of its asking.
 */
export class ResizePace<T extends Paced> {
  readonly #waiting: Readonly<Record<ResizePurpose, Set<T>>> = {
    restore: new Set(),
    outOfMemory: new Set(),
    size: new Set(),
  };
  /** When all that went is paid for; the burst is how far ahead of the clock that may be. */
  #paidAtMs = Number.NEGATIVE_INFINITY;
  /** Tenths of a patch that right-sizing has missed: at 10 it goes first. */
  #owed = 0;

  get size(): number {
    return lanes.reduce((sum, lane) => sum + this.#waiting[lane].size, 0);
  }

  add(item: T): void {
    this.#waiting[item.purpose].add(item);
  }

  remove(item: T): void {
    this.#waiting[item.purpose].delete(item);
  }

  /** Whoever may go now; else when somebody may. Undefined where nobody waits. */
  next(nowMs: number): { readonly item: T } | { readonly atMs: number } | undefined {
    if (this.size === 0) return undefined;
    const atMs = this.#paidAtMs - (BURST - 1) * EACH_MS;
    if (atMs > nowMs) return { atMs };
    const item = this.#choose();
    if (item === undefined) return undefined;
    this.#paidAtMs = Math.max(this.#paidAtMs, nowMs) + EACH_MS;
    this.remove(item);
    return { item };
  }

  #choose(): T | undefined {
    const own = first(this.#waiting.size, ({ module }) => module === 'rightsizing');
    this.#owed = own === undefined ? 0 : this.#owed + RIGHTSIZING_OF_TEN;
    const urgent = lanes
      .map((lane) => first(this.#waiting[lane], () => true))
      .find((one) => one !== undefined);
    const chosen = this.#owed >= 10 ? own : urgent;
    if (chosen?.purpose === 'size' && chosen.module === 'rightsizing')
      this.#owed = Math.max(0, this.#owed - 10);
    return chosen;
  }
}

function first<T>(items: Iterable<T>, matches: (item: T) => boolean): T | undefined {
  for (const item of items) if (matches(item)) return item;
  return undefined;
}
