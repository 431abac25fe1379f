import { LedgerUnavailable } from '../errors.ts';

export interface PatienceOptions {
  /** A call fails after so long a silence. */
  readonly timeoutMs: number;
  /**
   * True where all calls share one connection: Redis answers them in order, so an answer to an earlier one shows
   * that it is at work on the later ones.
   */
  readonly ordered: boolean;
  readonly now?: () => number;
}

interface Call {
  readonly sentAtMs: number;
  readonly giveUp: (failure: LedgerUnavailable) => void;
}

/** How finely time is counted. A process that stalls is charged one such step, however long it did. */
const stepsPerTimeout = 8;

/** A Redis at work, but behind by so many deadlines, is of no use to an admission. */
const mostTimeouts = 3;

/**
 * The deadline of calls to Redis: so much time without an answer in which this process could have heard one. A clock
 * on the wall would also count the process's own stalls, and take a burst of TLS handshakes for an outage of Redis.
 */
export class Patience {
  readonly #options: PatienceOptions;
  readonly #stepMs: number;
  readonly #now: () => number;
  /** In the order in which they were sent. */
  readonly #calls = new Set<Call>();
  #timer: NodeJS.Timeout | undefined;
  #steppedAtMs = 0;
  /** The clock that does not count stalls. It stands still while nothing is asked. */
  #heardMs = 0;
  #answeredAtMs = 0;

  constructor(options: PatienceOptions) {
    this.#options = options;
    this.#stepMs = options.timeoutMs / stepsPerTimeout;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Settles as the answer does, or rejects with LEDGER_TIMEOUT; `late` is told of an answer that comes after that. */
  wait<T>(answer: Promise<T>, late: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#listen();
      const call: Call = { sentAtMs: this.#heardUntilNowMs(), giveUp: reject };
      this.#calls.add(call);
      answer.then(
        (value) => {
          this.#answeredAtMs = this.#heardUntilNowMs();
          if (!this.#calls.delete(call)) late();
          resolve(value);
        },
        (error: unknown) => {
          this.#calls.delete(call);
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  }

  /** Nothing is waited for any more. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #listen(): void {
    if (this.#timer !== undefined) return;
    this.#steppedAtMs = this.#now();
    this.#timer = setInterval(() => this.#step(), this.#stepMs).unref();
  }

  #step(): void {
    if (this.#calls.size === 0) {
      this.stop();
      return;
    }
    this.#heardMs = this.#heardUntilNowMs();
    this.#steppedAtMs = this.#now();
    // What arrived by now waits in the socket: it is read between here and the next immediate.
    if (this.#overdue().length > 0) setImmediate(() => this.#giveUp());
  }

  #heardUntilNowMs(): number {
    return this.#heardMs + Math.min(this.#now() - this.#steppedAtMs, this.#stepMs);
  }

  #giveUp(): void {
    for (const call of this.#overdue()) {
      this.#calls.delete(call);
      const { timeoutMs } = this.#options;
      call.giveUp(
        new LedgerUnavailable(
          'LEDGER_TIMEOUT',
          `Redis did not answer within ${timeoutMs} ms. The command may still be carried out.`,
        ),
      );
    }
  }

  #overdue(): Call[] {
    const { timeoutMs, ordered } = this.#options;
    // Rounding must not cost a step.
    const nowMs = this.#heardMs + 0.5;
    return [...this.#calls].filter(({ sentAtMs }) => {
      const silentSinceMs = ordered ? Math.max(sentAtMs, this.#answeredAtMs) : sentAtMs;
      return nowMs - silentSinceMs >= timeoutMs || nowMs - sentAtMs >= mostTimeouts * timeoutMs;
    });
  }
}
