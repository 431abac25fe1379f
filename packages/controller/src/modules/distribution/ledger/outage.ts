import type { LedgerUnavailable } from '@spotalis/ledger';

/** Nobody waits less than this for an unreachable ledger, so that thousands of waiting keys are no load. */
const SHORTEST_MS = 500;
/** Nor longer, because the ledger's error bounds rest on observers that catch up soon. */
const LONGEST_MS = 10_000;

export interface OutageParts {
  readonly began: (error: LedgerUnavailable) => void;
  readonly ended: (lastedMs: number) => void;
  readonly now: () => number;
  readonly random: () => number;
}

/**
 * One outage of the ledger as all keys share it: each waits half the outage's age, so that together they ask less
 * and less, and the first success ends it for all.
 */
export class Outage {
  readonly #parts: OutageParts;
  #sinceMs: number | undefined;

  constructor(parts: OutageParts) {
    this.#parts = parts;
  }

  get isOn(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** Returns the milliseconds to wait before the next attempt. */
  failed(error: LedgerUnavailable): number {
    const { now, random, began } = this.#parts;
    if (this.#sinceMs === undefined) {
      this.#sinceMs = now();
      began(error);
    }
    const nominalMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (now() - this.#sinceMs) / 2));
    return nominalMs * (0.5 + random() / 2);
  }

  worked(): void {
    if (this.#sinceMs === undefined) return;
    const lastedMs = this.#parts.now() - this.#sinceMs;
    this.#sinceMs = undefined;
    this.#parts.ended(lastedMs);
  }
}
