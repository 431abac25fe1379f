import { ApiError, ConnectionError, DeadlineError, type KubeError } from '../errors.ts';

export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;

/**
 * Whether a failed attempt may be repeated. A repeatable call says the same thing twice without harm; any other
 * is repeated only when the server cannot have begun it: never connected, or turned away with 429 and a
 * Retry-After, which priority and fairness does before a request is looked at.
 */
export function mayRetry(error: KubeError, repeatable: boolean): boolean {
  if (error instanceof ApiError) {
    return repeatable ? error.retryable : error.status === 429 && error.retryAfterMs !== undefined;
  }
  if (error instanceof ConnectionError) {
    return repeatable || error.neverSent;
  }
  // One attempt hung: another connection may be alive. The caller's own deadline is not ours to extend.
  return error instanceof DeadlineError && repeatable;
}

/** The server's word if there is one, else 100 ms doubling to 5 s; 0-50 % on top so that clients spread. */
export function retryDelayMs(error: KubeError, attempt: number, random: () => number): number {
  const asked = error instanceof ApiError ? error.retryAfterMs : undefined;
  const base = asked ?? Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS);
  return base * (1 + random() * 0.5);
}

/** Retry-After: seconds, or an HTTP date. */
export function parseRetryAfterMs(header: string | undefined, wallMs: number): number | undefined {
  if (header === undefined || header === '') {
    return undefined;
  }
  if (/^\d+$/.test(header)) {
    return Number(header) * 1000;
  }
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - wallMs);
}
