import { LedgerUnavailable } from '../errors.ts';

interface Failing {
  failure: LedgerUnavailable;
  atMs: number;
  trying: boolean;
}

/** What nobody asked for that long is not known to fail any more: its workload may be gone. */
const forgottenMs = 10_000;

/**
 * After a failure one caller at a time tries again and the others fail at once: otherwise each of them would wait out
 * the deadline of a Redis that does not answer. Each place by itself: a node of a Cluster is silent alone.
 */
export class Circuit {
  /** In the order of their last failures. */
  readonly #failing = new Map<string, Failing>();
  readonly #changed: (failure: LedgerUnavailable | undefined) => void;
  readonly #now: () => number;
  #told: string | undefined;

  constructor(changed: (failure: LedgerUnavailable | undefined) => void, now = () => performance.now()) {
    this.#changed = changed;
    this.#now = now;
  }

  async run<T>(place: string, attempt: () => Promise<T>): Promise<T> {
    this.#forgetOld();
    const failing = this.#failing.get(place);
    if (failing?.trying === true) {
      throw new LedgerUnavailable(
        'LEDGER_CIRCUIT_OPEN',
        'The ledger did not answer a moment ago and another call is trying it again. Decide alone, as in an outage.',
        { cause: failing.failure },
      );
    }
    if (failing !== undefined) failing.trying = true;
    try {
      const result = await attempt();
      this.answered(place);
      return result;
    } catch (error) {
      if (error instanceof LedgerUnavailable) this.#fail(place, error);
      throw error;
    } finally {
      if (failing !== undefined) failing.trying = false;
    }
  }

  /** A connection was made: nobody needs to try anything out first. */
  reset(): void {
    this.#failing.clear();
    this.#tell();
  }

  /** A late answer came: this place was slow, not away. */
  answered(place: string): void {
    if (this.#failing.delete(place)) this.#tell();
  }

  #fail(place: string, failure: LedgerUnavailable): void {
    const failing = this.#failing.get(place) ?? { failure, atMs: 0, trying: false };
    failing.failure = failure;
    failing.atMs = this.#now();
    this.#failing.delete(place);
    this.#failing.set(place, failing);
    this.#tell();
  }

  #forgetOld(): void {
    for (const [place, { atMs }] of this.#failing) {
      if (this.#now() - atMs < forgottenMs) break;
      this.#failing.delete(place);
      this.#tell();
    }
  }

  #tell(): void {
    const failure = [...this.#failing.values()].at(-1)?.failure;
    if (failure?.code === this.#told) return;
    this.#told = failure?.code;
    this.#changed(failure);
  }
}
