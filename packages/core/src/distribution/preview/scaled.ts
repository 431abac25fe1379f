import type { CapacityType } from '../../capacity/type.ts';
import { membersOf } from '../../cluster/member.ts';
import type { Member } from '../../cluster/workload-pod.ts';
import type { RebalanceSnapshot } from '../moves/snapshot.ts';
import { appear, vanish } from './effects.ts';

/** A pod that came or went because the number of replicas changed. */
export interface ScaleStep {
  readonly kind: 'created' | 'removed';
  readonly pod: string;
  readonly type: CapacityType | null;
}

const compareNumbers = (a: number, b: number): number => a - b;

/** As the ReplicaSet controller removes pods: without a node, unready, lowest cost, crowded node, youngest. */
function removalOrder(members: readonly Member[]): readonly Member[] {
  const crowd = new Map<string, number>();
  for (const { pod } of members) {
    const node = pod.nodeName ?? '';
    crowd.set(node, (crowd.get(node) ?? 0) + 1);
  }
  const crowding = ({ pod }: Member): number => crowd.get(pod.nodeName ?? '') ?? 0;
  return members.toSorted(
    (a, b) =>
      compareNumbers(Number(a.pod.nodeName !== null), Number(b.pod.nodeName !== null)) ||
      compareNumbers(Number(a.pod.ready), Number(b.pod.ready)) ||
      compareNumbers(a.cost, b.cost) ||
      compareNumbers(crowding(b), crowding(a)) ||
      compareNumbers(b.pod.createdAtMs, a.pod.createdAtMs),
  );
}

/** The workload with another number of replicas, and the pods that this makes come or go. */
export function scaled(
  before: RebalanceSnapshot,
  replicas: number,
  nowMs: number,
): { readonly snapshot: RebalanceSnapshot; readonly steps: readonly ScaleStep[] } {
  const { workload } = before;
  const steps: ScaleStep[] = [];
  let snapshot: RebalanceSnapshot = {
    ...before,
    workload: {
      ...workload,
      replicas,
      updatedReplicas: replicas,
      replicasChangedAtMs: replicas === workload.replicas ? workload.replicasChangedAtMs : nowMs,
      ...(workload.kind === 'Deployment' && {
        revisions: workload.revisions.map((one) => (one.replicas > 0 ? { ...one, replicas } : one)),
      }),
    },
  };
  const members = membersOf(workload, before.pods, before.nodes);
  const surplus = Math.max(0, members.length - replicas);
  const leaving =
    workload.kind === 'StatefulSet'
      ? members.toSorted((a, b) => compareNumbers(b.ordinal ?? 0, a.ordinal ?? 0))
      : removalOrder(members);
  for (const { pod, type } of leaving.slice(0, surplus)) {
    snapshot = vanish(snapshot, pod.uid, 'scaled');
    steps.push({ kind: 'removed', pod: pod.name, type });
  }
  for (let count = members.length; count < replicas; count++) {
    const number = workload.kind === 'StatefulSet' ? workload.firstOrdinal + count : steps.length + 1;
    const name = workload.kind === 'StatefulSet' ? `${workload.name}-${number}` : `new pod ${number}`;
    const come = appear(snapshot, name, nowMs, 'scaled');
    snapshot = come.snapshot;
    steps.push({ kind: 'created', pod: name, type: come.type });
  }
  return { snapshot, steps };
}
