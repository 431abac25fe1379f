import { type CapacityType, capacityTypes } from '../../capacity/type.ts';
import { driftFrom, type PolicyNumbers, targetSpot } from '../../policy/target.ts';
import { ordinalStandingOf } from './ordinals.ts';
import type { Member } from '../../cluster/workload-pod.ts';
import type { Standing } from './verdict.ts';
import type { WorkloadView } from '../../cluster/workload.ts';

/**
 * Actual against target. Each revision aims at the share of its own count, so that in a rollout the targets add up. A
 * pod whose type nobody knows counts as a replica.
 */
export function standingOf(
  workload: WorkloadView,
  numbers: PolicyNumbers,
  members: readonly Member[],
): Standing {
  const sizes = new Map<string, number>();
  let spot = 0;
  let onDemand = 0;
  let untyped = 0;
  let onUnknownNodes = 0;
  for (const member of members) {
    const owner = member.pod.controller?.uid ?? '';
    sizes.set(owner, (sizes.get(owner) ?? 0) + 1);
    if (member.type === 'spot') spot++;
    else if (member.type === 'on-demand') onDemand++;
    else untyped++;
    if (member.onUnknownNode) onUnknownNodes++;
  }
  let target = 0;
  for (const size of sizes.values()) target += targetSpot(numbers, size);
  return {
    numbers,
    replicas: workload.replicas,
    counts: { spot, onDemand },
    untyped,
    onUnknownNodes,
    target,
    drift: driftFrom(target, { spot, onDemand, untyped }),
    ...(workload.kind === 'StatefulSet' && { ordinals: ordinalStandingOf(workload, numbers, members) }),
  };
}

/** Whether pods have to move to this type. To both: the floor of a StatefulSet's ordinals comes first. */
export function wantsMovesTo({ drift, ordinals }: Standing, to: CapacityType): boolean {
  return to === 'spot' ? drift < 0 : drift > 0 || (ordinals?.belowFloor ?? 0) > 0;
}

export function wantsMoves(standing: Standing): boolean {
  return capacityTypes.some((type) => wantsMovesTo(standing, type));
}
