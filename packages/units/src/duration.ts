/** A span of time in milliseconds. Configuration, annotations and flags write it as a Go duration. */
export type Milliseconds = number;

/** The units of Go's time.ParseDuration. Both signs for micro are in use: U+00B5 and U+03BC. */
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

const whole = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;

/** Reads `4h`, `2h30m`, `1.5s`, `0`; null when the text is no Go duration. May be negative, or not a whole number. */
export function parseDuration(text: string): Milliseconds | null {
  if (/^[-+]?0$/.test(text)) return 0;
  if (text.length > 100 || !whole.test(text)) return null;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)([^\d.]+)/g)) {
    totalMs += Number(amount) * (unitsMs[unit ?? ''] ?? Number.NaN);
  }
  if (!(totalMs <= LONGEST_MS)) return null;
  return text.startsWith('-') ? 0 - totalMs : totalMs;
}

/** Writes whole milliseconds the short way a person would: `30s`, `1500ms`, `2h30m`. */
export function formatDuration(ms: Milliseconds): string {
  if (ms === 0) return '0s';
  if (ms % 1_000 !== 0) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1_000;
  return `${hours ? `${hours}h` : ''}${minutes ? `${minutes}m` : ''}${seconds ? `${seconds}s` : ''}`;
}
