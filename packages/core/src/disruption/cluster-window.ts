import { parseSchedule } from '../policy/schedule.ts';
import type { DisruptionWindow } from '../policy/policy.ts';
import type { DisruptionValues } from './settings.ts';

export type WindowReading =
  /** Null: always open. */
  | { readonly ok: true; readonly value: DisruptionWindow | null }
  | { readonly ok: false; readonly problems: readonly { readonly key: string; readonly message: string }[] };

export function readClusterWindow({
  schedule,
  duration,
}: Pick<DisruptionValues, 'schedule' | 'duration'>): WindowReading {
  if (schedule === undefined || duration === undefined) return { ok: true, value: null };
  const parsed = parseSchedule(schedule);
  if (parsed.ok) return { ok: true, value: { schedule: parsed.value, durationMs: duration } };
  const message = `${JSON.stringify(schedule)} is not ${parsed.expected}; for example 0 22 * * *`;
  return { ok: false, problems: [{ key: 'rebalance.schedule', message }] };
}
