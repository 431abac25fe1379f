import { parseSchedule } from '../policy/schedule.ts';
import type { DisruptionWindow } from '../policy/policy.ts';

/** What the configuration says about when moves may start. */
export interface WindowTexts {
  /** To its schema, any text. */
  readonly schedule?: string | undefined;
  readonly duration?: number | undefined;
}

export type WindowReading =
  /** Null: always open. */
  | { readonly ok: true; readonly value: DisruptionWindow | null }
  | { readonly ok: false; readonly problems: readonly { readonly key: string; readonly message: string }[] };

export function readClusterWindow({ schedule, duration }: WindowTexts): WindowReading {
  if (schedule === undefined || duration === undefined) return { ok: true, value: null };
  const parsed = parseSchedule(schedule);
  if (parsed.ok) return { ok: true, value: { schedule: parsed.value, durationMs: duration } };
  const message = `${JSON.stringify(schedule)} is not ${parsed.expected}; for example 0 22 * * *`;
  return { ok: false, problems: [{ key: 'rebalance.schedule', message }] };
}

/** A rule of the configuration. All that read the file have to have it: what one refuses, none may take over. */
export function scheduleIsCron({ rebalance }: { readonly rebalance: WindowTexts }) {
  const reading = readClusterWindow(rebalance);
  return reading.ok ? [] : reading.problems;
}
