import { parseDuration } from '@spotalis/units';
import type { Parsed } from './value.ts';

export function parseWindowDuration(text: string): Parsed<number> {
  const durationMs = parseDuration(text);
  if (durationMs === null || durationMs <= 0) return { ok: false, expected: 'a duration above 0' };
  return { ok: true, value: durationMs };
}

/** Milliseconds, or `never`. 0 gives a substitute as soon as a pod cannot be scheduled. */
export function parseFallbackAfter(text: string): Parsed<number | 'never'> {
  if (text === 'never') return { ok: true, value: 'never' };
  const afterMs = parseDuration(text);
  if (afterMs === null || afterMs < 0) return { ok: false, expected: 'a duration of 0 or more, or "never"' };
  return { ok: true, value: afterMs };
}
