/** A span of time in milliseconds. Configuration is written in Go durations and read as these. */
export type Milliseconds = number;

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;
const whole = /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;

/**
 * Reads what Go's time.ParseDuration reads, without a sign: `1500ms`, `2h30m`, `0`. Undefined when it is not one. Core
 * has another for annotations, because runtime, which also the cluster for tests stands on, imports no rules; a test
 * of the CLI, which reads by both, holds the two together.
 */
export function parseDuration(text: string): Milliseconds | undefined {
  if (text === '0') return 0;
  if (!whole.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(part)) sum += Number(amount) * (unitMs[unit ?? ''] ?? 0);
  return Math.round(sum);
}

/** Writes milliseconds the short way a person would: `30s`, `1500ms`, `2h30m`. */
export function formatDuration(ms: Milliseconds): string {
  if (ms === 0) return '0s';
  if (ms % 1_000 !== 0) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1_000;
  return `${hours ? `${hours}h` : ''}${minutes ? `${minutes}m` : ''}${seconds ? `${seconds}s` : ''}`;
}
