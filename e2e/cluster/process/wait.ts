import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf } from './failure.ts';
import { patience } from './patience.ts';

export interface WaitOptions<T = unknown> {
  /** On an idle machine; in a test more, by its patience. */
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
  /** What the value must be like; without it, anything that JavaScript takes for true. */
  readonly until?: (value: T) => boolean;
}

const SHOWN_LENGTH = 2_000;
const LATE = Symbol('late');

/**
 * Asks `condition` until it answers with what was waited for, and returns that. Fails with the description and
 * with the last answer or error, so that a failed wait says what it saw instead.
 */
export async function waitFor<T>(
  description: string,
  condition: () => T | Promise<T>,
  { timeoutMs: idleMs = 30_000, intervalMs = 50, until = Boolean }: WaitOptions<T> = {},
): Promise<NonNullable<T>> {
  const timeoutMs = Math.round(idleMs * patience());
  const deadline = performance.now() + timeoutMs;
  let last = 'no answer yet';
  for (;;) {
    const left = deadline - performance.now();
    if (left <= 0) throw new Error(`waited ${timeoutMs} ms in vain for ${description}; ${last}`);
    const bell = new AbortController();
    try {
      const late = delay(left, LATE, { signal: bell.signal });
      late.catch(() => undefined);
      const value = await Promise.race([condition(), late]);
      if (value === LATE) continue;
      if (value && until(value)) return value;
      last = `last value: ${show(value)}`;
    } catch (error) {
      last = `last error: ${reasonOf(error)}`;
    } finally {
      bell.abort();
    }
    await delay(intervalMs);
  }
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}...` : text;
}
