import type { CapacityType, PodCounts, PolicyNumbers } from '@spotalis/core';
import type { LeftAlone, Unsteered } from '../../admission/record.ts';
import type { Workload } from '../../workload/workloads.ts';
import type { ReservationSource } from './reserver.ts';

export const leftAloneReasons = ['NoPolicy', 'NodeLabelsMissing'] as const;

export const unsteeredReasons = [
  /** The pod's own constraints leave no type. */
  'PlacementConflict',
  /** A StatefulSet's pod without a number. */
  'OrdinalUnknown',
  /** A bound volume, and it is not known which capacity reaches it. */
  'VolumeUnknown',
] as const;

/** How the type of a steered pod came about. */
type SteeredReason = ReservationSource | 'ordinal' | 'ordinal-alone';

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
}

/** What distribution decided for one pod, and why. */
export type DistributionRecord =
  | Steered
  | LeftAlone<(typeof leftAloneReasons)[number]>
  | Unsteered<(typeof unsteeredReasons)[number]>;
