import type { GateReason } from '../admission/gate.ts';
import type { CapacityType } from '../capacity/type.ts';
import type { PolicyNumbers } from '../distribution/target.ts';
import type { UnmanagedReason } from '../policy/managed.ts';

/** Why a pod that could have been ours was let through as it is. All of these are as they should be. */
export const untouchedReasons = ['NoPolicy', 'ReadOnly', 'NodeLabelsMissing'] as const;

/** Why a pod that is ours was let through as it is. Each of these is a pod off its target, perhaps. */
export const unsteeredReasons = [
  'OwnerUnknown',
  'PolicyUnknown',
  'DeadlineMissed',
  'PlacementConflict',
  'VolumeUnknown',
] as const;

/** Why a pod got the type that it got. */
export const steeredReasons = [
  /** By count: one more spot pod is still within the share. */
  'BelowShare',
  /** By count: the share is full. */
  'ShareFull',
  /** By count: there are fewer on-demand pods than the floor asks for. */
  'Floor',
  /** A StatefulSet's pod, by its ordinal. */
  'Ordinal',
  /** A number of the policy is invalid: on-demand. */
  'InvalidPolicy',
  /** The pod's own constraints allow this type only. */
  'PlacementConflict',
  /** Its bound volume reaches this type only. */
  'VolumeConflict',
  /** No spot capacity: a substitute on on-demand. */
  'Drought',
  /** Sent to spot to see whether there is capacity again. */
  'Probe',
  /** The same request again: the same answer again. */
  'Replay',
  /** A request of a pod that is gone: on-demand, and nothing was written. */
  'LateReplay',
  /** Decided by this replica alone, from a list of the pods. */
  'LedgerUnavailable',
  /** As above, without even a list: on-demand. */
  'CountsUnknown',
] as const;

export type UntouchedReason = GateReason | UnmanagedReason | (typeof untouchedReasons)[number];
export type UnsteeredReason = (typeof unsteeredReasons)[number];
export type SteeredReason = (typeof steeredReasons)[number];

/** What was known when the pod was let through; null where the way did not lead that far. */
export interface PassedFacts {
  readonly namespace: string | null;
  /** As in "deployment/web". */
  readonly workload: string | null;
}

export interface SteeredFacts {
  readonly namespace: string;
  readonly workload: string;
  readonly type: CapacityType;
  readonly numbers: PolicyNumbers;
  /** Pods of the revision before this one. Null for StatefulSets and where no one counted. */
  readonly counts: { readonly spot: number; readonly onDemand: number } | null;
  readonly place:
    | { readonly kind: 'rank'; readonly rank: number }
    | { readonly kind: 'ordinal'; readonly ordinal: number };
}

/** What an admission decided and why: the one value that logs, metrics, warnings and `explain` show. */
export type AdmissionTrace =
  | { readonly action: 'untouched'; readonly reason: UntouchedReason; readonly facts: PassedFacts }
  | { readonly action: 'unsteered'; readonly reason: UnsteeredReason; readonly facts: PassedFacts }
  | { readonly action: 'steered'; readonly reason: SteeredReason; readonly facts: SteeredFacts };

/** The reason of a decision by count, from the counts it was made on. */
export function reasonByCount(
  type: CapacityType,
  counts: { readonly onDemand: number },
  numbers: PolicyNumbers,
): SteeredReason {
  if (type === 'spot') return 'BelowShare';
  return counts.onDemand < numbers.minOnDemand ? 'Floor' : 'ShareFull';
}
