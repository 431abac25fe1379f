import { hasForeignCost, readPodMark } from '../../capacity/mark.ts';
import type { CapacityType } from '../../capacity/type.ts';
import { deletionCost } from '../../policy/slot.ts';
import type { PolicyNumbers } from '../../policy/target.ts';
import type { Member } from '../../cluster/workload-pod.ts';
import type { Correction } from './verdict.ts';
import { referenceTo } from '../../cluster/reference.ts';
import type { WorkloadView } from '../../cluster/workload.ts';

/**
 * The pods whose node is of another type than their annotation says. Admission counts by the annotation and moves go
 * by the node; left apart, one side would evict what the other makes anew, for ever.
 */
export function correctionsOf(
  workload: WorkloadView,
  numbers: PolicyNumbers,
  members: readonly Member[],
): readonly Correction[] {
  const corrections: Correction[] = [];
  /** By ReplicaSet and type, the ranks given out here included. */
  const nextRanks = new Map<string, number>();
  for (const { pod, type, onUnknownNode } of members) {
    const marked = readPodMark(pod.annotations).type;
    if (pod.nodeName === null || onUnknownNode || type === null || marked === null || marked === type)
      continue;
    const reference = referenceTo(pod);
    const owner = pod.controller?.uid ?? '';
    if (workload.kind === 'StatefulSet') {
      corrections.push({ pod: reference, type, rank: null, cost: null });
      continue;
    }
    const key = `${owner} ${type}`;
    const rank = nextRanks.get(key) ?? rankBehind(members, owner, type);
    nextRanks.set(key, rank + 1);
    const template = workload.revisions.find(({ uid }) => uid === owner)?.template;
    const isForeign = hasForeignCost(template?.metadata?.annotations ?? {});
    corrections.push({
      pod: reference,
      type,
      rank,
      cost: isForeign ? null : deletionCost(numbers, type, rank),
    });
  }
  return corrections;
}

/**
 * Behind all, even where one among them is free, so that the pod that is on the wrong node is the first to be moved.
 * By the annotations: a pod that is yet to be corrected does not hold a rank of its node's type.
 */
function rankBehind(members: readonly Member[], owner: string, type: CapacityType): number {
  let behind = 0;
  for (const { pod, rank } of members) {
    if (rank === null || pod.controller?.uid !== owner) continue;
    if (readPodMark(pod.annotations).type === type) behind = Math.max(behind, rank + 1);
  }
  return behind;
}
