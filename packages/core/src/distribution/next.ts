import type { CapacityType } from '../capacity/type.ts';
import { type PodCounts, type PolicyNumbers, targetSpot } from '../policy/target.ts';

/**
 * The type of the pod to be created next beside these. By count, not by slot: after a policy change or a loss it
 * heads for the target by the shortest way, and on pure growth it gives the slot sequence.
 *
 * Pods of an unknown type count as replicas but not for the floor, because all of them may turn out to be on spot.
 */
export function typeForNext(policy: PolicyNumbers, { spot, onDemand, untyped = 0 }: PodCounts): CapacityType {
  const target = targetSpot(policy, spot + onDemand + untyped + 1);
  // Without untyped pods the target leaves room for the floor already.
  return spot + 1 <= target && onDemand >= policy.minOnDemand ? 'spot' : 'on-demand';
}
