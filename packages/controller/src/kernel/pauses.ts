const FIRST_MS = 5_000;
const LONGEST_MS = 300_000;

/** Pauses after failures, by key: each twice as long as the one before, up to five minutes. */
export class Pauses {
  readonly #random: () => number;
  readonly #failures = new Map<string, number>();

  constructor(random: () => number) {
    this.#random = random;
  }

  /** In milliseconds, after one more failure. */
  next(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    return this.jittered(Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 10)));
  }

  /** Up to a fifth longer: those that were refused together do not ask together again. */
  jittered(ms: number): number {
    return ms * (1 + this.#random() / 5);
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }
}
