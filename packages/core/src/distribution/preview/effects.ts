import { allowedTypes } from '../../capacity/allowed.ts';
import type { CapacityType } from '../../capacity/type.ts';
import { typeForNext } from '../next.ts';
import { deletionCost, ordinalType } from '../../policy/slot.ts';
import type { PodCounts, PolicyNumbers, TypeCounts } from '../../policy/target.ts';
import { foreignKeys, podKeys } from '../../policy/keys.ts';
import { selects } from '../../policy/selector.ts';
import { evidenceFor } from '../../cluster/fit.ts';
import { activeRevision, membersOf } from '../../cluster/member.ts';
import type { NodeView } from '../../cluster/node.ts';
import type { PdbView } from '../../cluster/pdb.ts';
import { desiredHealthy } from '../../disruption/pdb.ts';
import { type Member, noVolumes, type WorkloadPod } from '../../cluster/workload-pod.ts';
import { addResources, type Resources, subtractResources } from '../../cluster/resources.ts';
import type { RebalanceSnapshot } from '../moves/snapshot.ts';
import type { TemplateView, WorkloadView } from '../../cluster/workload.ts';

/** No UID of a real pod begins so. */
const PREVIEWED = 'preview of ';

/** There only in the preview, and without a node that takes it. */
export const isWithoutRoom = ({ uid, ready }: WorkloadPod): boolean => uid.startsWith(PREVIEWED) && !ready;

/** `moved`: another comes in its place. `scaled`: the number of pods is another one. */
type Cause = 'moved' | 'scaled';

export const numbersOf = ({ policy }: RebalanceSnapshot): PolicyNumbers =>
  policy.kind === 'none' ? { spotPercentage: 0, minOnDemand: 0 } : policy.numbers;

export const countsOf = (members: readonly Member[]): TypeCounts => ({
  spot: members.filter(({ type }) => type === 'spot').length,
  onDemand: members.filter(({ type }) => type === 'on-demand').length,
});

const countsInLedger = (members: readonly Member[]): PodCounts => ({
  ...countsOf(members),
  untyped: members.filter(({ type }) => type === null).length,
});

const templateOf = (workload: WorkloadView): TemplateView | undefined =>
  workload.kind === 'StatefulSet' ? workload.template : activeRevision(workload)?.template;

/** Everything that is counted from pods, counted again. */
function recounted(snapshot: RebalanceSnapshot): RebalanceSnapshot {
  const { workload, pods, nodes } = snapshot;
  const members = membersOf(workload, pods, nodes);
  const availableReplicas = members.filter(({ pod }) => pod.ready).length;
  if (workload.kind === 'StatefulSet') return { ...snapshot, workload: { ...workload, availableReplicas } };
  const revisions = workload.revisions.map((revision) => ({
    ...revision,
    ledger: countsInLedger(members.filter(({ pod }) => pod.controller?.uid === revision.uid)),
  }));
  return { ...snapshot, workload: { ...workload, availableReplicas, revisions } };
}

function withHealthy(pdb: PdbView, pod: WorkloadPod, change: 1 | -1): PdbView {
  if (pdb.selector === null || !selects(pdb.selector, pod.labels)) return pdb;
  const next = {
    ...pdb,
    expectedPods: pdb.expectedPods + change,
    currentHealthy: pdb.currentHealthy + (pod.ready ? change : 0),
  };
  return { ...next, disruptionsAllowed: Math.max(0, next.currentHealthy - desiredHealthy(next)) };
}

/** False where other namespaces' pods are not seen: then nothing is known of any room. */
const isRoomSeen = ({ free }: NodeView): boolean => Object.keys(free).length > 0;

function withRoom(
  nodes: RebalanceSnapshot['nodes'],
  name: string | null,
  change: (free: Resources) => Resources,
): RebalanceSnapshot['nodes'] {
  const node = name === null ? undefined : nodes.get(name);
  return node === undefined || !isRoomSeen(node)
    ? nodes
    : new Map(Array.from(nodes.values(), (one) => [one.name, one] as const)).set(node.name, {
        ...node,
        free: change(node.free),
      });
}

/** Without the pod. */
export function vanish(snapshot: RebalanceSnapshot, uid: string, cause: Cause): RebalanceSnapshot {
  const pod = snapshot.pods.find((one) => one.uid === uid);
  if (pod === undefined) return snapshot;
  const requests = { ...templateOf(snapshot.workload)?.requests, pods: 1 };
  return recounted({
    ...snapshot,
    pods: snapshot.pods.filter((one) => one !== pod),
    nodes: withRoom(snapshot.nodes, pod.nodeName, (free) => addResources(free, requests)),
    pdbs: cause === 'moved' ? snapshot.pdbs : snapshot.pdbs.map((pdb) => withHealthy(pdb, pod, -1)),
  });
}

/** With one more pod, sent where admission would send it or left without a type, and Ready if a node takes it. */
export function appear(
  snapshot: RebalanceSnapshot,
  name: string,
  createdAtMs: number,
  cause: Cause,
): { readonly snapshot: RebalanceSnapshot; readonly type: CapacityType | null } {
  const { workload, pods, nodes, settings } = snapshot;
  const numbers = numbersOf(snapshot);
  const members = membersOf(workload, pods, nodes);
  const template = templateOf(workload);
  const { type, substitutes } = admitted(snapshot, name, members, cause);
  const evidence =
    template === undefined || type === null
      ? null
      : evidenceFor({
          template,
          to: type,
          placement: settings.placement,
          nodes,
          staying: members,
          volumes: noVolumes,
          room: [...nodes.values()].some(isRoomSeen) ? 'free' : 'allocatable',
        });
  // What cannot be proven, or seen, is taken for granted: the scheduler may know better.
  const node = evidence?.kind === 'fits' ? evidence.node : null;
  const isReady = node !== null || type === null || evidence?.kind === 'notProvable';
  const pod: WorkloadPod = {
    uid: `${PREVIEWED}${name} at ${createdAtMs}`,
    name,
    resourceVersion: '0',
    controller:
      workload.kind === 'StatefulSet'
        ? { kind: 'StatefulSet', uid: workload.uid }
        : { kind: 'ReplicaSet', uid: activeRevision(workload)?.uid ?? '' },
    labels: template?.metadata?.labels ?? {},
    annotations: {
      ...(type !== null && { [podKeys.capacityType]: type }),
      ...(substitutes && { [podKeys.substitute]: 'true' }),
      ...(type !== null &&
        workload.kind === 'Deployment' &&
        numbered(numbers, type, lowestFree(members, type))),
    },
    phase: isReady ? 'Running' : 'Pending',
    ready: isReady,
    terminating: false,
    nodeName: node,
    unschedulableSinceMs: null,
    holdup: null,
    createdAtMs,
    startedAtMs: createdAtMs,
    priority: 0,
    volumes: noVolumes,
  };
  const requests = { ...template?.requests, pods: 1 };
  const after = recounted({
    ...snapshot,
    pods: [...pods, pod],
    nodes: withRoom(nodes, node, (free) => subtractResources(free, requests)),
    pdbs: cause === 'moved' ? snapshot.pdbs : snapshot.pdbs.map((pdb) => withHealthy(pdb, pod, 1)),
  });
  return { snapshot: after, type };
}

/** What admission would say of the next pod. */
function admitted(
  snapshot: RebalanceSnapshot,
  name: string,
  members: readonly Member[],
  cause: Cause,
): { readonly type: CapacityType | null; readonly substitutes: boolean } {
  const { workload, settings } = snapshot;
  const template = templateOf(workload);
  const allowed = template === undefined ? 'both' : allowedTypes(template.spec, settings.placement);
  // A substitute would have to go where the pod must not.
  if (allowed !== 'both') return { type: allowed === 'none' ? null : allowed, substitutes: false };
  const numbers = numbersOf(snapshot);
  const wanted =
    workload.kind === 'StatefulSet'
      ? ordinalType(numbers, Number(name.slice(workload.name.length + 1)), workload.firstOrdinal)
      : typeForNext(numbers, countsInLedger(members));
  const substitutes = wanted === 'spot' && cause === 'scaled' && isDry(snapshot);
  return { type: substitutes ? 'on-demand' : wanted, substitutes };
}

const numbered = (numbers: PolicyNumbers, type: CapacityType, rank: number): Record<string, string> => ({
  [podKeys.rank]: String(rank),
  [foreignKeys.podDeletionCost]: String(deletionCost(numbers, type, rank)),
});

/** While there is no spot capacity, admission gives new pods substitutes; only those that are moved back go to spot. */
function isDry({ drought }: RebalanceSnapshot): boolean {
  if (drought.kind === 'told') return drought.report !== null || drought.poolIsOpen;
  return drought.kind === 'watched' && (drought.breaker.state !== 'closed' || drought.pool.kind !== 'closed');
}

/**
 * With the pods that are still to come, and with the youngest that is not Ready yet come up: where a move ends that
 * is under way. `byMs` is when, if a pod takes so long; null where the pod that came finds no node.
 */
export function landed(
  before: RebalanceSnapshot,
  nowMs: number,
  replacementMs: number,
): { readonly snapshot: RebalanceSnapshot; readonly byMs: number } | null {
  const { workload } = before;
  const members = membersOf(workload, before.pods, before.nodes);
  const [youngest] = members
    .filter(({ pod }) => !pod.ready)
    .toSorted((a, b) => b.pod.createdAtMs - a.pod.createdAtMs);
  let snapshot = before;
  let byMs = nowMs;
  const isDue = before.budgets.workload > 0 && members.length >= workload.replicas;
  if (isDue && youngest !== undefined) {
    const { pod } = youngest;
    // Until it gets one the move goes on, and nothing tells how long that takes.
    if (pod.unschedulableSinceMs !== null) return null;
    byMs = Math.max(nowMs, pod.createdAtMs + replacementMs);
    snapshot = pod.nodeName === null ? come(vanish(snapshot, pod.uid, 'moved'), pod.name) : up(snapshot, pod);
  }
  const ordinals = new Set(members.map(({ ordinal }) => ordinal));
  for (let count = members.length, ordinal = firstOrdinalOf(workload); count < workload.replicas; count++) {
    while (ordinals.has(ordinal)) ordinal++;
    byMs = nowMs + replacementMs;
    const name = workload.kind === 'StatefulSet' ? `${workload.name}-${ordinal}` : `pod ${count + 1}`;
    snapshot = come(snapshot, name);
    ordinals.add(ordinal);
  }
  return { snapshot: { ...snapshot, budgets: { ...snapshot.budgets, workload: 0 } }, byMs };

  function come(of: RebalanceSnapshot, name: string): RebalanceSnapshot {
    const { snapshot: next } = appear(of, name, nowMs, 'moved');
    const pod = next.pods.at(-1);
    return pod?.ready === true ? { ...next, pdbs: next.pdbs.map((pdb) => withOneMore(pdb, pod)) } : next;
  }
}

const firstOrdinalOf = (workload: WorkloadView): number =>
  workload.kind === 'StatefulSet' ? workload.firstOrdinal : 0;

/** The pod is Ready where it is. */
function up(snapshot: RebalanceSnapshot, pod: WorkloadPod): RebalanceSnapshot {
  const ready: WorkloadPod = { ...pod, ready: true, phase: 'Running' };
  return recounted({
    ...snapshot,
    pods: snapshot.pods.map((one) => (one === pod ? ready : one)),
    pdbs: snapshot.pdbs.map((pdb) => withOneMore(pdb, ready)),
  });
}

/** Of the pods that the budget expects all the time. */
function withOneMore(pdb: PdbView, pod: WorkloadPod): PdbView {
  if (pdb.selector === null || !selects(pdb.selector, pod.labels)) return pdb;
  const next = { ...pdb, currentHealthy: pdb.currentHealthy + 1 };
  return { ...next, disruptionsAllowed: Math.max(0, next.currentHealthy - desiredHealthy(next)) };
}

function lowestFree(members: readonly Member[], type: CapacityType): number {
  const used = new Set(members.filter((one) => one.type === type).map(({ rank }) => rank));
  let rank = 0;
  while (used.has(rank)) rank++;
  return rank;
}

/** The pods' annotations as the controller would correct them. */
export function annotatedAs(
  snapshot: RebalanceSnapshot,
  changes: readonly {
    readonly pod: { readonly uid: string };
    readonly type: CapacityType;
    readonly rank: number | null;
    readonly cost: number | null;
  }[],
): RebalanceSnapshot {
  const pods = snapshot.pods.map((pod) => {
    const change = changes.find(({ pod: { uid } }) => uid === pod.uid);
    if (change === undefined) return pod;
    const annotations = {
      ...pod.annotations,
      [podKeys.capacityType]: change.type,
      ...(change.rank !== null && { [podKeys.rank]: String(change.rank) }),
      ...(change.cost !== null && { [foreignKeys.podDeletionCost]: String(change.cost) }),
    };
    return { ...pod, annotations };
  });
  return recounted({ ...snapshot, pods });
}
