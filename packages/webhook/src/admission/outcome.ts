import type {
  CapacityType,
  GateReason,
  JsonPatchOperation,
  PolicyNumbers,
  PodCounts,
  UnmanagedReason,
} from '@spotalis/core';
import type { ReservationSource } from '../steps/distribution/reserver.ts';
import type { Workload } from '../workload/workloads.ts';

/** Nothing was to be done. */
export const leftAloneReasons = [
  'NotCreate',
  'NotPod',
  'Subresource',
  'NoNamespace',
  'AlreadyBound',
  'BarePod',
  'OtherOwner',
  'NamespaceExcluded',
  'NamespaceNotListed',
  'NamespaceNotSelected',
  'NotLabelled',
  'NamespaceNotLabelled',
  'WorkloadNotLabelled',
  'Unowned',
  'NoPolicy',
  'NodeLabelsMissing',
] as const satisfies readonly (GateReason | UnmanagedReason | 'Unowned' | 'NoPolicy' | 'NodeLabelsMissing')[];

export type LeftAloneReason = (typeof leftAloneReasons)[number];

/** Something was to be done and could not be. */
export const unsteeredReasons = [
  /** The owner was not to be found in time, so neither was the policy. */
  'OwnerUnknown',
  /** Deleted meanwhile. */
  'OwnerMissing',
  'PodUnreadable',
  /** The pod's own constraints leave no type. */
  'PlacementConflict',
  /** A StatefulSet's pod without a number. */
  'OrdinalUnknown',
  /** A bound volume, and where to is not known. */
  'VolumeUnknown',
] as const;

export type UnsteeredReason = (typeof unsteeredReasons)[number];

/** How the type of a steered pod came about. */
export type SteeredReason = ReservationSource | 'ordinal' | 'ordinal-alone';

export const steeredReasons = [
  'ledger',
  'replay',
  'ledger-unavailable',
  'late',
  'api-unavailable',
  'ordinal',
  'ordinal-alone',
] as const satisfies readonly SteeredReason[];

export interface Steered {
  readonly result: 'steered';
  readonly reason: SteeredReason;
  readonly type: CapacityType;
  readonly substitute: boolean;
  readonly workload: Workload;
  /** The ReplicaSet's or StatefulSet's revision, by its hash. */
  readonly revision: string;
  readonly numbers: PolicyNumbers;
  readonly counts: PodCounts | undefined;
  readonly token: string | undefined;
  readonly patch: readonly JsonPatchOperation[];
  readonly warnings: readonly string[];
  readonly dryRun: boolean;
  /** Decided, and nothing was written, neither in the ledger nor on the pod. */
  readonly readOnly: boolean;
  /** Undoes what was taken in the ledger, when the answer did not get through. */
  readonly giveBack: () => Promise<void>;
}

export interface Unsteered {
  readonly result: 'unsteered';
  readonly reason: UnsteeredReason;
  readonly warnings: readonly string[];
  readonly error?: unknown;
}

export interface LeftAlone {
  readonly result: 'left-alone';
  readonly reason: LeftAloneReason;
}

export type Outcome = Steered | Unsteered | LeftAlone;
