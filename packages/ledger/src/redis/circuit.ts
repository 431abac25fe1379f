import { LedgerUnavailable } from '../errors.ts';

/**
 * After a failure one caller at a time tries again and the others fail at once: otherwise each of them would wait out
 * the deadline of a Redis that does not answer.
 */
export class Circuit {
  #failure: LedgerUnavailable | undefined;
  #trying = false;
  readonly #changed: (failure: LedgerUnavailable | undefined) => void;

  constructor(changed: (failure: LedgerUnavailable | undefined) => void) {
    this.#changed = changed;
  }

  async run<T>(attempt: () => Promise<T>): Promise<T> {
    const trial = this.#failure !== undefined;
    if (trial && this.#trying) {
      throw new LedgerUnavailable(
        'LEDGER_CIRCUIT_OPEN',
        'The ledger did not answer a moment ago and another call is trying it again. Decide alone, as in an outage.',
        { cause: this.#failure },
      );
    }
    if (trial) this.#trying = true;
    try {
      const result = await attempt();
      this.#set(undefined);
      return result;
    } catch (error) {
      if (error instanceof LedgerUnavailable) this.#set(error);
      throw error;
    } finally {
      if (trial) this.#trying = false;
    }
  }

  /** A connection was made, or a late answer came: nobody needs to try it out first. */
  reset(): void {
    this.#set(undefined);
  }

  #set(failure: LedgerUnavailable | undefined): void {
    const before = this.#failure?.code;
    this.#failure = failure;
    if (before !== failure?.code) this.#changed(failure);
  }
}
