import type { Parsed } from './value.ts';

/** Milliseconds in each unit of Go's time.ParseDuration. Both signs for micro are in use: U+00B5 and U+03BC. */
const unitsMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Go holds a duration as nanoseconds in an int64: about 292 years. */
const LONGEST_MS = (2 ** 63 - 1) / 1e6;

const wholeDuration = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;

/** A Go duration (`4h`, `2h30m`, `1.5s`, `0`) in milliseconds, or null when it is none. May be negative. */
export function parseGoDuration(text: string): number | null {
  if (/^[-+]?0$/.test(text)) return 0;
  if (text.length > 100 || !wholeDuration.test(text)) return null;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)([^\d.]+)/g)) {
    totalMs += Number(amount) * (unitsMs[unit ?? ''] ?? Number.NaN);
  }
  if (!(totalMs <= LONGEST_MS)) return null;
  return text.startsWith('-') ? 0 - totalMs : totalMs;
}

export function parseWindowDuration(text: string): Parsed<number> {
  const durationMs = parseGoDuration(text);
  if (durationMs === null || durationMs <= 0) return { ok: false, expected: 'a duration above 0' };
  return { ok: true, value: durationMs };
}

/** Milliseconds, or `never`. 0 gives a substitute as soon as a pod cannot be scheduled. */
export function parseFallbackAfter(text: string): Parsed<number | 'never'> {
  if (text === 'never') return { ok: true, value: 'never' };
  const afterMs = parseGoDuration(text);
  if (afterMs === null || afterMs < 0) return { ok: false, expected: 'a duration of 0 or more, or "never"' };
  return { ok: true, value: afterMs };
}
