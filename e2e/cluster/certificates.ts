import type { Validity } from '@spotalis/runtime';

const HOUR_MS = 3_600_000;

/** How long what a test cluster issues is valid; from an hour back, for a test that shifts a clock. */
export function aMonth(): Validity {
  const notBeforeMs = Date.now() - HOUR_MS;
  return { notBeforeMs, notAfterMs: notBeforeMs + 30 * 24 * HOUR_MS };
}
