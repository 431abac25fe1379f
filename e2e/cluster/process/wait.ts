import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
  /** Gives up at once, with the reason this signal carries. */
  readonly signal?: AbortSignal;
}

const ANSWER_LENGTH = 2_000;

/**
 * Asks `condition` until it answers with something true, and returns that. Fails with the description and with
 * the last answer or error, so that a failed wait says what it saw instead.
 */
export async function waitFor<T>(
  description: string,
  condition: () => T | Promise<T>,
  { timeoutMs = 30_000, intervalMs = 50, signal }: WaitOptions = {},
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let last: string;
    try {
      const value = await condition();
      if (value) return value as Exclude<T, false | null | undefined | 0 | ''>;
      last = `last value: ${show(value)}`;
    } catch (error) {
      last = `last error: ${error instanceof Error ? error.message : String(error)}`;
    }
    signal?.throwIfAborted();
    if (performance.now() > deadline) {
      throw new Error(`waited ${timeoutMs} ms in vain for ${description}; ${last}`);
    }
    await delay(intervalMs);
  }
}

function show(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length > ANSWER_LENGTH ? `${text.slice(0, ANSWER_LENGTH)}...` : text;
}
