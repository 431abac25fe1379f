import type { DroughtReport } from '../droughts/bulletin.ts';

const at = (timeMs: number): string => new Date(timeMs).toISOString().replace(/\.\d+Z$/, 'Z');

/** What was told of a workload's drought, for people; nothing where there is none. */
export function explainDrought(
  report: Pick<DroughtReport, 'state' | 'sinceMs' | 'nextProbeAtMs'> | null,
  poolIsOpen: boolean,
): readonly string[] {
  if (report === null) {
    return poolIsOpen
      ? [
          'Other workloads of the same placement find no spot capacity: its new pods for spot go to on-demand at once, as substitutes.',
        ]
      : [];
  }
  const { state, sinceMs, nextProbeAtMs } = report;
  const told =
    state === 'open' && nextProbeAtMs !== null
      ? [
          `No spot capacity since ${at(sinceMs)}: new pods for spot go to on-demand, as substitutes.`,
          `Spot is tried again at ${at(nextProbeAtMs)}, or as soon as a node has room.`,
        ]
      : [
          `No spot capacity since ${at(sinceMs)}, and it is being tried again: one pod at a time is sent to spot, and substitutes are moved back one by one.`,
        ];
  return poolIsOpen
    ? [
        ...told,
        'Other workloads of the same placement find none either, so that none of its pods waits for it.',
      ]
    : told;
}
