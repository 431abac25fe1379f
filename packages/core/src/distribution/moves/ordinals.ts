import { type PolicyNumbers, targetSpot } from '../../policy/target.ts';
import type { Member } from '../../cluster/workload-pod.ts';
import type { OrdinalStanding } from './verdict.ts';
import type { StatefulSetView } from '../../cluster/workload.ts';

/** The place of an ordinal among the slots; null on a pod that is not one of the wanted replicas. */
function indexOf({ ordinal }: Member, { firstOrdinal, replicas }: StatefulSetView): number | null {
  if (ordinal === null) return null;
  const index = ordinal - firstOrdinal;
  return index >= 0 && index < replicas ? index : null;
}

/**
 * The spot pods among the first `minOnDemand` ordinals. A StatefulSet scales down from its highest ordinal, whatever
 * that is on, so the floor holds at every smaller size only while each of these is on on-demand.
 */
export function membersBelowFloor(
  workload: StatefulSetView,
  { minOnDemand }: PolicyNumbers,
  members: readonly Member[],
): readonly Member[] {
  return members.filter((member) => {
    const index = indexOf(member, workload);
    return member.type === 'spot' && index !== null && index < minOnDemand;
  });
}

/** How a StatefulSet would stand after a scale-down, by the pods that there are. */
export function ordinalStandingOf(
  workload: StatefulSetView,
  numbers: PolicyNumbers,
  members: readonly Member[],
): OrdinalStanding {
  const isSpot = new Set<number>();
  for (const member of members) {
    const index = indexOf(member, workload);
    if (index !== null && member.type === 'spot') isSpot.add(index);
  }
  let worst: OrdinalStanding['worst'] = null;
  let spot = 0;
  for (let replicas = 1; replicas < workload.replicas; replicas++) {
    if (isSpot.has(replicas - 1)) spot++;
    const off = Math.abs(spot - targetSpot(numbers, replicas));
    if (off > (worst?.off ?? 0)) worst = { replicas, off };
  }
  return { belowFloor: membersBelowFloor(workload, numbers, members).length, worst };
}
