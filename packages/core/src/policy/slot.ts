import type { CapacityType } from '../capacity/type.ts';
import { type PolicyNumbers, targetSpot } from './target.ts';

/**
 * The target grows by 0 or 1 with each replica, so the replicas of a policy form one fixed sequence of slots:
 * slot i is a spot slot when replica i + 1 raises the spot target. An index below 0 is on-demand.
 */
export function slotType(policy: PolicyNumbers, index: number): CapacityType {
  if (index < 0) return 'on-demand';
  return targetSpot(policy, index + 1) > targetSpot(policy, index) ? 'spot' : 'on-demand';
}

/**
 * A StatefulSet's pods are numbered, so the number alone decides. `start` is `spec.ordinals.start`. A pod
 * numbered below it is on its way out and counts as on-demand.
 */
export function ordinalType(policy: PolicyNumbers, ordinal: number, start: number): CapacityType {
  return slotType(policy, ordinal - start);
}

/** Where ranks without a slot go: above every slot a real workload reaches, below the int32 a cost must fit. */
const BEYOND_EVERY_SLOT = 1_000_000;

/**
 * The index of the slot that the pod of this rank (0, 1, ...) takes among the slots of its type, or
 * 1,000,000 + rank when the policy has no such slot, so that a surplus pod is the first to go.
 *
 * The index is n - 1 for the least n whose target reaches rank + 1. Both targets are the smaller or greater of
 * two straight lines, so that n is found by solving each line rather than by searching.
 */
export function position(policy: PolicyNumbers, type: CapacityType, rank: number): number {
  const { spotPercentage, minOnDemand } = policy;
  if (type === 'spot') {
    if (spotPercentage === 0) return BEYOND_EVERY_SLOT + rank;
    return Math.max(minOnDemand + rank, Math.floor((100 * rank) / spotPercentage));
  }
  if (rank < minOnDemand) return rank;
  if (spotPercentage === 100) return BEYOND_EVERY_SLOT + rank;
  return Math.ceil((100 * (rank + 1)) / (100 - spotPercentage)) - 1;
}

/**
 * The value of `controller.kubernetes.io/pod-deletion-cost`. A ReplicaSet that scales down removes the lowest cost
 * first, so pods leave in the reverse of the order in which their slots were filled.
 */
export function deletionCost(policy: PolicyNumbers, type: CapacityType, rank: number): number {
  // 0 - x, because -0 would be written as "0" by some and "-0" by others.
  return 0 - position(policy, type, rank);
}
