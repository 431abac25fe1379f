import type { CapacityType } from '../capacity/type.ts';
import { type PolicyNumbers, targetSpot, type TypeCounts } from './target.ts';

/**
 * The type of the pod to be created next beside these. By count, not by slot: after a policy change or a loss it
 * heads for the target by the shortest way, and on pure growth it gives the slot sequence.
 */
export function typeForNext(policy: PolicyNumbers, counts: TypeCounts): CapacityType {
  return counts.spot + 1 <= targetSpot(policy, counts.spot + counts.onDemand + 1) ? 'spot' : 'on-demand';
}
