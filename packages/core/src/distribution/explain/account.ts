import { readPodMark } from '../../capacity/mark.ts';
import { type CapacityType, otherType } from '../../capacity/type.ts';
import { ordinalType, position } from '../../policy/slot.ts';
import type { PolicyNumbers } from '../../policy/target.ts';
import { candidatesOf } from '../moves/candidate.ts';
import { decide } from '../moves/decide.ts';
import { membersOf } from '../../cluster/member.ts';
import { askPdbs, type PdbAnswer } from '../../disruption/pdb.ts';
import type { Member } from '../../cluster/workload-pod.ts';
import { membersBelowFloor } from '../moves/ordinals.ts';
import type { RebalanceSnapshot } from '../moves/snapshot.ts';
import type { Exclusion, RebalanceTrace } from '../moves/verdict.ts';
import { dooms, exclusions, explainRebalance } from './rebalance.ts';

/** How one pod stands in its workload: why it is where it is, and what becomes of it. */
export interface PodAccount {
  readonly pod: string;
  /** The type it counts as; null when nobody knows. */
  readonly type: CapacityType | null;
  readonly node: { readonly name: string; readonly type: CapacityType | 'unknown' } | null;
  readonly doom: Member['doom'];
  /** What admission wrote; null on a pod that it never saw. */
  readonly admitted: {
    readonly type: CapacityType;
    readonly numbers: PolicyNumbers | null;
    readonly substitute: boolean;
  } | null;
  /** The numbers in force now; null without a policy. */
  readonly numbers: PolicyNumbers | null;
  readonly place:
    | {
        readonly kind: 'ordinal';
        readonly ordinal: number;
        readonly type: CapacityType;
        /** It is on spot, and the floor needs it on on-demand after a scale-down. */
        readonly belowFloor: boolean;
      }
    /** It stays while more replicas than `below` are wanted; null: at this size it has none, and is among the first to go. */
    | { readonly kind: 'slot'; readonly below: number | null }
    | null;
  /** How many pods of its type are too many. */
  readonly surplus: number;
  /** Its turn among the pods that may move, the first is 1; null when it may not move. */
  readonly turn: number | null;
  readonly exclusion: Exclusion | null;
  readonly pdb: PdbAnswer;
  /** What is decided about the workload now. */
  readonly decision: RebalanceTrace;
}

/** Null for a pod that is not, or no longer, one of the workload's. */
export function accountOf(snapshot: RebalanceSnapshot, podName: string, nowMs: number): PodAccount | null {
  const { workload, policy, nodes } = snapshot;
  const members = membersOf(workload, snapshot.pods, nodes);
  const member = members.find(({ pod }) => pod.name === podName);
  if (member === undefined) return null;
  const { pod, type } = member;
  const mark = readPodMark(pod.annotations);
  const decision = decide(snapshot, nowMs);
  const numbers = policy.kind === 'none' ? null : policy.numbers;
  const surplus = surplusOf(type, decision);
  const belowFloor =
    numbers === null || workload.kind !== 'StatefulSet' ? [] : membersBelowFloor(workload, numbers, members);
  const isBelowFloor = belowFloor.includes(member);
  const candidates =
    numbers === null || type === null || (surplus === 0 && !isBelowFloor)
      ? { eligible: [], exclusions: [] }
      : candidatesOf(isBelowFloor ? belowFloor : members, {
          workload,
          numbers,
          from: type,
          minPodAgeMs: snapshot.settings.minPodAgeMs,
          nowMs,
        });
  const turn = candidates.eligible.indexOf(member) + 1;
  const node = pod.nodeName;
  return {
    pod: pod.name,
    type,
    node: node === null ? null : { name: node, type: nodes.get(node)?.type ?? 'unknown' },
    doom: member.doom,
    admitted:
      mark.type === null ? null : { type: mark.type, numbers: mark.numbers, substitute: mark.substitute },
    numbers,
    place: placeOf(snapshot, member, numbers, isBelowFloor),
    surplus,
    turn: turn === 0 ? null : turn,
    exclusion: candidates.exclusions.find((one) => one.pod === pod.name) ?? null,
    pdb: askPdbs(pod, snapshot.pdbs),
    decision,
  };
}

function surplusOf(type: CapacityType | null, { standing }: RebalanceTrace): number {
  if (standing === null || type === null) return 0;
  return Math.max(0, type === 'spot' ? standing.drift : 0 - standing.drift);
}

function placeOf(
  { workload }: RebalanceSnapshot,
  { ordinal, rank, type }: Member,
  numbers: PolicyNumbers | null,
  belowFloor: boolean,
): PodAccount['place'] {
  if (numbers === null || type === null) return null;
  if (workload.kind === 'StatefulSet') {
    if (ordinal === null) return null;
    return {
      kind: 'ordinal',
      ordinal,
      type: ordinalType(numbers, ordinal, workload.firstOrdinal),
      belowFloor,
    };
  }
  if (rank === null) return null;
  const at = position(numbers, type, rank);
  return { kind: 'slot', below: at >= workload.replicas ? null : at };
}

const article = (type: string): string => (type === 'spot' ? 'a spot' : 'an on-demand');
const policyText = ({ spotPercentage, minOnDemand }: PolicyNumbers): string =>
  `${spotPercentage} % on spot and at least ${minOnDemand} on on-demand`;
const isSame = (a: PolicyNumbers, b: PolicyNumbers): boolean =>
  a.spotPercentage === b.spotPercentage && a.minOnDemand === b.minOnDemand;

function whereabouts({ pod, node, type }: PodAccount): string {
  if (node === null) {
    return type === null
      ? `${pod} has no node yet, and nobody sent it to a type.`
      : `${pod} waits for ${article(type)} node.`;
  }
  if (node.type !== 'unknown') return `${pod} runs on ${node.name}, ${article(node.type)} node.`;
  const counts = type === null ? 'so it counts as neither' : `so it counts as ${type}, as admission had it`;
  return `${pod} runs on ${node.name}, whose labels say neither spot nor on-demand, ${counts}.`;
}

function admission({ admitted, node, numbers, place }: PodAccount): readonly string[] {
  if (admitted === null) {
    return [
      'It carries no mark of ours: it is from before the workload was managed, or was created past the webhook.',
    ];
  }
  const told: string[] = [];
  const under = admitted.numbers === null ? '' : `, when the policy was ${policyText(admitted.numbers)}`;
  told.push(
    admitted.substitute
      ? `Admission sent it to ${admitted.type} in place of a spot pod, because there was no spot capacity${under}.`
      : `Admission sent it to ${admitted.type}${under}.`,
  );
  if (node !== null && node.type !== 'unknown' && node.type !== admitted.type) {
    told.push('Its node is of the other type, and the node decides.');
  }
  if (place?.kind !== 'ordinal' && numbers !== null && admitted.numbers !== null) {
    if (!isSame(numbers, admitted.numbers)) told.push(`The policy is now ${policyText(numbers)}.`);
  }
  return told;
}

function standingPlace({ place }: PodAccount): readonly string[] {
  if (place === null) return [];
  if (place.kind === 'ordinal') {
    return [
      `Its number decides: under the present policy ordinal ${place.ordinal} belongs on ${place.type}.`,
    ];
  }
  if (place.below === null) {
    return ['At this size the policy has no place for it, so a scale-down takes it among the first.'];
  }
  return place.below === 0
    ? ['It holds the first place of all, so a scale-down takes it last.']
    : [`A scale-down takes it when no more than ${place.below} replicas are wanted.`];
}

function future({ pod, place, surplus, type, turn, exclusion }: PodAccount): readonly string[] {
  if (place?.kind === 'ordinal' && place.belowFloor) {
    const needed =
      'A scale-down removes the highest ordinals first, so the floor needs this one on on-demand';
    return [
      exclusion === null
        ? `${needed}, so it is moved there whatever the share.`
        : `${needed}, but it stays: ${pod} ${exclusions[exclusion.reason]}.`,
    ];
  }
  if (type === null || surplus === 0) return staysMismatched(place, type);
  const many = `${surplus} ${type} ${surplus === 1 ? 'pod is' : 'pods are'} too many`;
  if (exclusion !== null) return [`${many}, but this one stays: ${pod} ${exclusions[exclusion.reason]}.`];
  if (turn === null) return [];
  if (turn > surplus) return [`${many}, and others go before this one.`];
  const which = turn === 1 ? 'the next' : `number ${turn} in the order`;
  return [`${many}, and it is ${which} to be moved to ${otherType(type)}.`];
}

function staysMismatched(place: PodAccount['place'], type: CapacityType | null): readonly string[] {
  if (place?.kind !== 'ordinal' || type === null || place.type === type) return [];
  return [`It stays on ${type} while the share is right, and comes up on ${place.type} when it is replaced.`];
}

function budget({ pdb }: PodAccount): readonly string[] {
  switch (pdb.kind) {
    case 'allows':
      return pdb.pdb === null ? [] : [`PodDisruptionBudget ${pdb.pdb} would let it go now.`];
    case 'tooMany':
      return [
        `${pdb.pdbs.length} PodDisruptionBudgets select it (${pdb.pdbs.join(', ')}), so it cannot be evicted.`,
      ];
    case 'behind':
      return [`The status of PodDisruptionBudget ${pdb.pdb} is older than its spec.`];
    case 'blocks': {
      const ever = pdb.never ? ', and never will' : '';
      return [
        `PodDisruptionBudget ${pdb.pdb} would not let it go now${ever}: ${pdb.healthy} pods are healthy and ${pdb.needed} must stay so.`,
      ];
    }
    default:
      return pdb satisfies never;
  }
}

/** Sentences that can be read aloud, the last one about the whole workload. Programs go by the account itself. */
export function explainPod(account: PodAccount): readonly string[] {
  const { decision, doom } = account;
  const isOurs = decision.reason !== 'Unmanaged' && decision.reason !== 'NoPolicy';
  return [
    whereabouts(account),
    ...(doom === null ? [] : [`It is a pod ${dooms[doom]}, which makes it the first to go.`]),
    ...(isOurs || account.admitted !== null ? admission(account) : []),
    ...(isOurs ? [...standingPlace(account), ...future(account), ...budget(account)] : []),
    `Its workload: ${explainRebalance(decision)}`,
  ];
}
