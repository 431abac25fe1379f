import { setTimeout as delay } from 'node:timers/promises';

/** Thrown when the time of one decision is over. A retry does not help: the API server does not wait for it. */
export class DecisionTimeoutError extends Error {
  override readonly name = 'DecisionTimeoutError';
  readonly code = 'DECISION_TIMEOUT';

  constructor(budgetMs: number) {
    super(`no decision within ${budgetMs} ms`);
  }
}

/** Time to write, send and read the answer before the API server's own timeout. */
const RETURN_MS = 300;

/** The part of it in which a step may notice that its time is over, and answer from what it knows. */
const GRACE_MS = 50;

/** The time for one decision; `callTimeoutMs` is the `?timeout=` of the call, where it has one. */
export function decisionBudgetMs(decisionTimeoutMs: number, callTimeoutMs: number | undefined): number {
  if (callTimeoutMs === undefined) {
    return decisionTimeoutMs;
  }
  return Math.min(decisionTimeoutMs, Math.max(callTimeoutMs - RETURN_MS, callTimeoutMs / 2));
}

/** The time left for one decision. Call `end`, or the timer keeps it alive. */
export class Deadline {
  readonly #passed: Promise<never>;
  #reject: (reason: DecisionTimeoutError) => void = () => undefined;
  readonly #timer: NodeJS.Timeout;
  #over = false;
  #abandoned = false;

  constructor(budgetMs: number) {
    this.#passed = new Promise<never>((_, reject) => {
      this.#reject = reject;
    });
    // It may pass while no work waits for it.
    this.#passed.catch(() => undefined);
    this.#timer = setTimeout(() => this.#pass(new DecisionTimeoutError(budgetMs)), budgetMs);
  }

  get over(): boolean {
    return this.#over;
  }

  get abandoned(): boolean {
    return this.#abandoned;
  }

  /** The caller went away: the answer will not be read. */
  abandon(): void {
    this.#abandoned = true;
    this.#pass(new DecisionTimeoutError(0));
  }

  within<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#passed]);
  }

  /** For work that keeps to the deadline by itself: a moment longer, so that its answer still counts. */
  withGrace<T>(work: Promise<T>): Promise<T> {
    const graceOver = this.#passed.catch(async (error: unknown) => {
      await delay(GRACE_MS, undefined, { ref: false });
      throw error;
    });
    return Promise.race([work, graceOver]);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #pass(reason: DecisionTimeoutError): void {
    this.#over = true;
    this.end();
    this.#reject(reason);
  }
}

/** Waits for the work up to this long: undefined when it takes longer. The work goes on. */
export async function atMost<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
