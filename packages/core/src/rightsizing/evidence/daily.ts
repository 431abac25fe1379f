const DAY_MS = 86_400_000;
const MOST_DAYS = 14;

/** The highest amount of each of the last days, today first; 0 where nothing is known. */
export interface DailyPeaks {
  /** The start of today, in UTC. */
  readonly dayMs: number;
  readonly peaks: readonly number[];
}

export const noPeaks: DailyPeaks = { dayMs: 0, peaks: [] };

/** With an amount of now. Days go by even if nothing is known of them. */
export function withPeak({ dayMs, peaks }: DailyPeaks, amount: number, nowMs: number): DailyPeaks {
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const passed = Math.max(0, Math.round((todayMs - dayMs) / DAY_MS));
  const shifted = [...Array.from({ length: Math.min(passed, MOST_DAYS) }, () => 0), ...peaks];
  const [today = 0, ...before] = shifted.slice(0, MOST_DAYS);
  return { dayMs: Math.max(todayMs, dayMs), peaks: [Math.max(today, Math.ceil(amount)), ...before] };
}

/** The highest of the first days; 0 of none. */
export const peakOf = ({ peaks }: DailyPeaks, days: number): number => Math.max(0, ...peaks.slice(0, days));
