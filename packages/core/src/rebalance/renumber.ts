import { type CapacityType, capacityTypes } from '../capacity/type.ts';
import { position } from '../distribution/slot.ts';
import { type PolicyNumbers, spotAmongSurvivors, type TypeCounts } from '../distribution/target.ts';
import type { Member } from '../cluster/workload-pod.ts';
import { referenceTo } from '../cluster/reference.ts';
import type { Renumbering } from './verdict.ts';

type Typed = Member & { readonly type: CapacityType };

const isTyped = (member: Member): member is Typed => member.type !== null;

/** Dearest first: the order in which pods survive. */
const byCost = (a: Member, b: Member): number =>
  b.cost - a.cost || a.pod.createdAtMs - b.pod.createdAtMs || compareText(a.pod.uid, b.pod.uid);

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/**
 * Whether every scale-down, lowest cost first, leaves the best possible mix. Pods of equal cost go in an order that
 * nobody knows, so a tie between the types is a fault.
 */
export function isOrderExact(numbers: PolicyNumbers, members: readonly Member[]): boolean {
  const survivors = members.filter(isTyped).toSorted(byCost);
  const counts = countsOf(survivors);
  let spot = 0;
  return survivors.every((member, index) => {
    const next = survivors[index + 1];
    if (next?.cost === member.cost && next.type !== member.type) return false;
    if (member.type === 'spot') spot++;
    return spot === spotAmongSurvivors(numbers, counts, index + 1);
  });
}

function countsOf(members: readonly Typed[]): TypeCounts {
  const spot = members.filter(({ type }) => type === 'spot').length;
  return { spot, onDemand: members.length - spot };
}

/**
 * The fewest new costs that make scale-downs exact again; none when they are. Only for pods of one ReplicaSet, and
 * only worth doing without drift, since the costs of pods about to be moved are written for nothing.
 */
export function renumberingsOf(numbers: PolicyNumbers, members: readonly Member[]): readonly Renumbering[] {
  if (isOrderExact(numbers, members)) return [];
  return capacityTypes.flatMap((type) => renumberType(numbers, type, members));
}

/** A pod on a position of the policy keeps it; the others fill the free positions in the order of their costs. */
function renumberType(
  numbers: PolicyNumbers,
  type: CapacityType,
  members: readonly Member[],
): readonly Renumbering[] {
  const sameType = members.filter((member) => member.type === type).toSorted(byCost);
  const free = new Map(sameType.map((_, rank) => [position(numbers, type, rank), rank]));
  const displaced = sameType.filter(({ cost }) => !free.delete(0 - cost));
  // A map keeps the order in which it was filled, and positions rise with the rank.
  const places = [...free];
  return displaced.flatMap(({ pod }, index) => {
    const place = places[index];
    if (place === undefined) return [];
    const [at, rank] = place;
    return [{ pod: referenceTo(pod), type, rank, cost: 0 - at }];
  });
}
