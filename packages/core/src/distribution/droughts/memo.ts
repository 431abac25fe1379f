import type { Breaker } from './breaker.ts';

/** A breaker as a store keeps it: the state, which admissions read, and what only this reducer understands. */
export interface BreakerRecord {
  readonly state: Breaker['state'];
  readonly memo?: string;
}

export function writeMemo(breaker: Breaker): string {
  const { state: _state, ...memo } = breaker;
  return JSON.stringify(memo);
}

/** What cannot be read begins anew: admissions go by the state, so that it is not thrown away. */
export function readBreaker(
  { state, memo }: BreakerRecord,
  initialBackoffMs: number,
  nowMs: number,
): Breaker {
  if (state === 'closed') return { state };
  const fields = parse(memo ?? '');
  const time = (name: string): number => {
    const value = fields[name];
    return typeof value === 'number' && Number.isFinite(value) ? value : nowMs;
  };
  const backoff = fields['backoffMs'];
  const common = {
    sinceMs: time('sinceMs'),
    backoffMs: typeof backoff === 'number' && backoff > 0 ? backoff : initialBackoffMs,
  };
  return state === 'open'
    ? { state, ...common, openedAtMs: time('openedAtMs'), early: fields['early'] === true }
    : { state, ...common, probedAtMs: time('probedAtMs'), proven: fields['proven'] === true };
}

function parse(memo: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(memo);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
