import {
  decide,
  explainRebalance,
  keyPrefix,
  type ObservedWorkload,
  type PolicyReading,
  readPodMark,
  type RebalanceReason,
} from '@spotalis/core';
import type { Survey } from '../cluster/survey.ts';

/** One workload in a status. The names are those of the columns for programs. */
export interface StatusRow {
  readonly namespace: string;
  readonly workload: string;
  readonly policy: string;
  readonly replicas: number;
  /** Null where nobody counts, because the workload is not managed. */
  readonly pods: {
    readonly spot: number;
    readonly onDemand: number;
    readonly unknown: number;
    readonly substitutes: number;
    readonly targetSpot: number;
    readonly targetOnDemand: number;
    readonly drift: number;
  } | null;
  readonly state: RebalanceReason;
  readonly why: string;
}

export const subjectOf = ({ workloadKind, metadata }: ObservedWorkload): string =>
  `${workloadKind.toLowerCase()}/${metadata.name}`;

function policyText(policy: PolicyReading): string {
  if (policy.kind === 'none') return '-';
  if (policy.kind === 'invalid') return 'invalid';
  const { spotPercentage, minOnDemand } = policy.numbers;
  return `${spotPercentage}%/${minOnDemand}${policy.kind === 'frozen' ? ' (part invalid)' : ''}`;
}

const isOfInterest = ({ labels, annotations }: ObservedWorkload): boolean =>
  [...Object.keys(labels), ...Object.keys(annotations)].some((key) => key.startsWith(keyPrefix));

/** Every workload that is managed or carries anything of ours, in the order of names. */
export function statusRows(
  survey: Survey,
  namespace: string | undefined,
  nowMs: number,
): readonly StatusRow[] {
  return survey.workloads
    .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
    .filter(isOfInterest)
    .map((workload) => rowOf(survey, workload, nowMs))
    .toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.workload, b.workload));
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

function rowOf(survey: Survey, workload: ObservedWorkload, nowMs: number): StatusRow {
  const snapshot = survey.snapshotOf(workload);
  const trace = decide(snapshot, nowMs);
  const { standing } = trace;
  const counted = snapshot.managed.managed && standing !== null;
  const present = survey.podsOf(workload).filter(({ ended }) => !ended);
  return {
    namespace: workload.metadata.namespace ?? '',
    workload: subjectOf(workload),
    policy: policyText(snapshot.policy),
    replicas: workload.replicas,
    pods: counted
      ? {
          spot: standing.counts.spot,
          onDemand: standing.counts.onDemand,
          unknown: standing.untyped,
          substitutes: present.filter(({ annotations }) => readPodMark(annotations).substitute).length,
          targetSpot: standing.target,
          targetOnDemand: present.length - standing.target,
          drift: standing.drift,
        }
      : null,
    state: trace.reason,
    why: explainRebalance(trace),
  };
}
