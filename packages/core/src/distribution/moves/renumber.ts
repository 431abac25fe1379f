import { type CapacityType, capacityTypes } from '../../capacity/type.ts';
import { deletionCost } from '../../policy/slot.ts';
import type { PolicyNumbers } from '../../policy/target.ts';
import type { Member, WorkloadPod } from '../../cluster/workload-pod.ts';
import { type PodReference, referenceTo } from '../../cluster/reference.ts';
import type { Renumbering } from './verdict.ts';

/** What of a member the order rests on. */
export interface Ranked extends Pick<Member, 'type' | 'rank' | 'cost'> {
  readonly pod: PodReference & Pick<WorkloadPod, 'createdAtMs'>;
}

/** Dearest first: the order in which pods survive. */
const byCost = (a: Ranked, b: Ranked): number =>
  b.cost - a.cost || a.pod.createdAtMs - b.pod.createdAtMs || compareText(a.pod.uid, b.pod.uid);

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/**
 * The fewest writes after which the pods of each type hold the ranks 0, 1, 2, ... once each, at the costs that the
 * policy gives to these ranks. Then every scale-down is exact, and so is every scale-down after growth, because
 * the ledger fills the ranks that follow. Nothing less will do: a cost in the right order on a rank that it does not
 * belong to ties with a later pod.
 *
 * Only for pods of one ReplicaSet, and only worth doing without drift, since the costs of pods about to be moved are
 * written for nothing.
 */
export function renumberingsOf(numbers: PolicyNumbers, members: readonly Ranked[]): readonly Renumbering[] {
  return capacityTypes.flatMap((type) => renumberType(numbers, type, members));
}

/** The others fill the free ranks in the order of their costs. */
function renumberType(
  numbers: PolicyNumbers,
  type: CapacityType,
  members: readonly Ranked[],
): readonly Renumbering[] {
  const sameType = members.filter((member) => member.type === type).toSorted(byCost);
  const free = new Set(sameType.keys());
  const displaced = sameType.filter(
    ({ rank, cost }) => rank === null || cost !== deletionCost(numbers, type, rank) || !free.delete(rank),
  );
  const ranks = [...free];
  return displaced.flatMap(({ pod }, index) => {
    const rank = ranks[index];
    if (rank === undefined) return [];
    return [{ pod: referenceTo(pod), type, rank, cost: deletionCost(numbers, type, rank) }];
  });
}
