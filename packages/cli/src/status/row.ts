import {
  decide,
  type DroughtReport,
  explainRebalance,
  keyPrefix,
  type ObservedWorkload,
  type PolicyReading,
  readPodMark,
  type RebalanceReason,
  type RebalanceSnapshot,
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
  /** What the controller tells of a lack of spot capacity; null where it tells of none, or cannot be heard. */
  readonly drought: {
    readonly state: DroughtReport['state'];
    readonly since: string;
    /** Null while it is being tried. */
    readonly nextProbe: string | null;
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

function droughtIn({ drought }: RebalanceSnapshot): StatusRow['drought'] {
  if (drought.kind !== 'told' || drought.report === null) return null;
  const { state, sinceMs, nextProbeAtMs } = drought.report;
  const time = (ms: number): string => new Date(ms).toISOString();
  return { state, since: time(sinceMs), nextProbe: nextProbeAtMs === null ? null : time(nextProbeAtMs) };
}

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
    drought: droughtIn(snapshot),
    state: trace.reason,
    why: explainRebalance(trace),
  };
}
