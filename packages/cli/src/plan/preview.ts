import {
  enabledLabel,
  explainDrought,
  explainRebalance,
  type ObservedWorkload,
  type Plan,
  planFor,
  policyKeys,
  type UnmanagedReason,
} from '@spotalis/core';
import type { MoveFootprint, Survey } from '../cluster/survey.ts';
import { type Invocation, type Flag } from '../command/command.ts';
import { wholeNumber } from '../command/arguments.ts';
import { type Output, span } from '../output/output.ts';
import { table } from '@spotalis/units';
import { subjectOf } from '../status/row.ts';
import type { Pace } from './pace.ts';

/** What is to be tried. */
export interface Change {
  readonly spotPercentage: number | undefined;
  readonly minOnDemand: number | undefined;
  readonly replicas: number | undefined;
}

export const numberFlags: readonly Flag[] = [
  { name: 'spot-percentage', value: 'NUMBER', doc: 'the share of replicas on spot, 0 to 100', example: '70' },
  {
    name: 'min-on-demand',
    value: 'NUMBER',
    doc: 'the floor: replicas that must be on on-demand',
    example: '2',
  },
];

export const readChange = (given: Invocation): Change => ({
  spotPercentage: wholeNumber(given, 'spot-percentage', {
    least: 0,
    most: 100,
    example: '70',
    isShare: true,
  }),
  minOnDemand: wholeNumber(given, 'min-on-demand', { least: 0, most: 10_000, example: '2' }),
  replicas: wholeNumber(given, 'replicas', { least: 0, most: 100_000, example: '20' }),
});

/** The annotations that the change writes. */
export function annotationsOf({ spotPercentage, minOnDemand }: Change): Record<string, string> {
  return {
    ...(spotPercentage !== undefined && { [policyKeys.spotPercentage]: String(spotPercentage) }),
    ...(minOnDemand !== undefined && { [policyKeys.minOnDemand]: String(minOnDemand) }),
  };
}

export interface Preview {
  readonly subject: string;
  readonly namespace: string;
  readonly plan: Plan;
  readonly pace: Pace;
  /** Why nothing of it happens today; null: the workload is managed. */
  readonly unmanaged: UnmanagedReason | null;
  readonly sentences: readonly string[];
  readonly notes: readonly string[];
}

interface Setting {
  readonly change: Change;
  readonly pace: Pace;
  /** The move that is under way counts. */
  readonly footprint: MoveFootprint;
  readonly nowMs: number;
}

/** What the change would do to a workload as it is now. One that is not managed is looked at as if it were. */
export function previewOf(
  survey: Survey,
  workload: ObservedWorkload,
  { change, pace, nowMs, footprint }: Setting,
): Preview {
  const annotations = { ...workload.annotations, ...annotationsOf(change) };
  const tried = { ...workload, annotations, labels: { ...workload.labels, [enabledLabel]: 'true' } };
  const snapshot = survey.snapshotOf(tried, footprint);
  const managed = survey.managedOf(workload);
  const plan = planFor(
    // Other defaults delay a plan by minutes, and do not change it.
    { ...snapshot, managed: { managed: true }, otherDefaults: null },
    {
      replicas: change.replicas ?? workload.replicas,
      policyChanges: Object.entries(annotations).some(([key, value]) => workload.annotations[key] !== value),
      nowMs,
      replacementMs: pace.ms,
    },
  );
  const { drought } = snapshot;
  const droughts = drought.kind === 'told' ? explainDrought(drought.report, drought.poolIsOpen) : [];
  const told = { plan, pace, droughts, cooldownMs: survey.settings.rebalance.cooldownMs, nowMs };
  return {
    subject: subjectOf(workload),
    namespace: workload.metadata.namespace ?? '',
    plan,
    pace,
    unmanaged: managed.managed ? null : managed.reason,
    sentences: sentencesOf(told),
    notes: survey.notes,
  };
}

interface Told {
  readonly plan: Plan;
  readonly pace: Pace;
  readonly droughts: readonly string[];
  readonly cooldownMs: number;
  readonly nowMs: number;
}

const moves = (count: number): string => (count === 1 ? '1 move' : `${count} moves`);

function sentencesOf({ plan, pace, droughts, cooldownMs, nowMs }: Told): readonly string[] {
  const { fewestOnDemand, floor, before, outcome, last, unscheduled, waits, underWayUntilMs } = plan;
  const told: string[] = [...droughts];
  if (underWayUntilMs !== null) {
    told.push(
      `A pod is being replaced now, and counts as Ready in ${span(underWayUntilMs - nowMs)}: what is planned begins after that.`,
    );
  }
  if (plan.moves.length > 0) {
    const known = { measured: 'as its pods took in the median', given: 'as given', assumed: 'as assumed' }[
      pace.origin
    ];
    told.push(
      `${moves(plan.moves.length)}, at the earliest done in ${span(plan.endsAtMs - nowMs)}: each replacement is Ready after ${span(pace.ms)}, ${known}, and then the workload rests for ${span(cooldownMs)}.`,
      'Moves of other workloads share the budgets of the cluster, and can make it longer.',
    );
  } else if (outcome === 'reached') told.push('No move is needed.');
  for (const { untilMs } of waits)
    told.push(`Moves wait for a window until ${new Date(untilMs).toISOString()}.`);
  if (outcome === 'stopped') told.push(`It does not get further: ${explainRebalance(last)}`);
  if (last.verdict.kind === 'prove')
    told.push('A placeholder asks for a node, and moves go on when it gets one.');
  if (fewestOnDemand >= floor)
    told.push(`The floor of ${floor} is kept: there are never fewer than ${fewestOnDemand} on-demand pods.`);
  else if (fewestOnDemand >= Math.min(floor, before.onDemand)) {
    const end = plan.after.onDemand >= floor ? 'is reached' : 'is not reached';
    told.push(
      `The floor of ${floor} ${end}: ${before.onDemand} on-demand pods now, and never fewer than ${fewestOnDemand}.`,
    );
  } else told.push(`The floor of ${floor} is broken on the way: ${fewestOnDemand} on-demand pods are left.`);
  if (unscheduled > 0) told.push(`For ${unscheduled} pods there is no room now on nodes of their type.`);
  return told;
}

export function previewText(
  { subject, namespace, plan, unmanaged, sentences }: Preview,
  { style, width }: Output,
  nowMs: number,
): string {
  const { before, after, target, scaling } = plan;
  const counts = ({ spot, onDemand }: Plan['before']): string => `${spot} spot, ${onDemand} on-demand`;
  const wanted =
    after.spot === target.spot && after.onDemand === target.onDemand ? '' : ` (wanted: ${counts(target)})`;
  const come = scaling.filter(({ kind }) => kind === 'created').length;
  const lines = [
    `${style.strong(subject)} in ${namespace}`,
    '',
    `Now   ${counts(before)}`,
    `Then  ${counts(after)}${wanted}`,
    '',
  ];
  if (unmanaged !== null) lines.push('It is not managed today; this is what would happen if it were.', '');
  if (scaling.length > 0) {
    const which = scaling.map(({ pod, type }) =>
      come > 0 ? (type ?? 'neither') : `${pod} (${type ?? 'neither'})`,
    );
    lines.push(
      come > 0
        ? `Scaling creates ${come} pods: ${tally(which)}.`
        : `Scaling removes, in this order: ${which.join(', ')}.`,
      '',
    );
  }
  if (plan.moves.length > 0) {
    const rows = plan.moves.map(({ atMs, pod, from, to }, index) => [
      String(index + 1),
      span(atMs - nowMs),
      pod,
      from,
      to,
    ]);
    lines.push(table(['MOVE', 'AFTER', 'POD', 'FROM', 'TO'], rows, { width, faint: style.faint }), '');
  }
  return [...lines, ...sentences].join('\n');
}

function tally(types: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].map(([type, count]) => `${count} ${type}`).join(', ');
}
