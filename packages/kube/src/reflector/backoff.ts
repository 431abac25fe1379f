const FIRST_MS = 800;
const LONGEST_MS = 30_000;
const STABLE_MS = 60_000;

/** Delays between attempts of one watch: 0.8 s doubling to 30 s, from the start again after a stable minute. */
export class Backoff {
  private readonly now: () => number;
  private readonly random: () => number;
  private failures = 0;
  private workingSinceMs: number | undefined;

  constructor(now: () => number, random: () => number) {
    this.now = now;
    this.random = random;
  }

  /** The stream is open. Counts as recovered once this has lasted a minute. */
  working(): void {
    this.workingSinceMs ??= this.now();
  }

  /** Milliseconds to wait after a failure: between the nominal delay and twice that. */
  next(): number {
    this.settle();
    const nominal = Math.min(FIRST_MS * 2 ** this.failures, LONGEST_MS / 2);
    this.failures++;
    return nominal * (1 + this.random());
  }

  /**
   * Milliseconds to wait after the server forgot our version: up to a second for the first time, so that a
   * thousand watches do not list in the same instant, then like any failure.
   */
  afterExpiry(): number {
    this.settle();
    if (this.failures > 0) {
      return this.next();
    }
    this.failures++;
    return this.random() * 1000;
  }

  private settle(): void {
    if (this.workingSinceMs !== undefined && this.now() - this.workingSinceMs >= STABLE_MS) {
      this.failures = 0;
    }
    this.workingSinceMs = undefined;
  }
}
