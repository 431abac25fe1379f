import type { NodeView } from '../rebalance/node.ts';
import type { WorkloadPod } from '../rebalance/pod.ts';
import { addResources, type Resources, subtractResources } from '../rebalance/resources.ts';
import type { TypeCounts } from '../distribution/target.ts';
import type { WorkloadView } from '../rebalance/workload.ts';
import type { ObservedNode } from './node.ts';
import type { ObservedPod } from './pod.ts';
import type { ObservedReplicaSet } from './replicaset.ts';
import { reachOf, type VolumeLookup } from './volume.ts';
import type { ObservedWorkload } from './workload.ts';

/** The node with the room that these pods, all those on it, leave. */
export function nodeViewOf(node: ObservedNode, pods: Iterable<ObservedPod>): NodeView {
  const { metadata, type, labels, ready, cordoned, taints, allocatable } = node;
  let used: Resources = {};
  for (const { phase, requests } of pods) {
    // A terminating pod still has its room.
    if (phase !== 'Succeeded' && phase !== 'Failed') used = addResources(used, requests);
  }
  const free = subtractResources(allocatable, used);
  return {
    name: metadata.name,
    type: type ?? 'unknown',
    labels,
    ready,
    cordoned,
    taints,
    allocatable,
    free,
  };
}

export function podViewOf(pod: ObservedPod, volumes: VolumeLookup): WorkloadPod {
  const { metadata, controller, nodeName, claims } = pod;
  const { uid, name, namespace = '', resourceVersion } = metadata;
  const { labels, annotations, phase, ready, terminating, createdAtMs, startedAtMs, priority } = pod;
  const { unschedulableSinceMs } = pod;
  return {
    uid,
    name,
    resourceVersion,
    controller: controller ?? null,
    nodeName: nodeName ?? null,
    labels,
    annotations,
    phase,
    ready,
    terminating,
    unschedulableSinceMs,
    createdAtMs,
    startedAtMs,
    priority,
    volumes: reachOf(namespace, claims, volumes),
  };
}

/** When what a workload asks for last changed, as far as anybody saw it. */
export type SeenChanges = Pick<WorkloadView, 'policyChangedAtMs' | 'replicasChangedAtMs' | 'podGoneAtMs'>;

export interface WorkloadSurroundings {
  readonly changes: SeenChanges;
  /** A Deployment's own. */
  readonly replicaSets: readonly ObservedReplicaSet[];
  /** What their ledgers hold, by the UID of the ReplicaSet. */
  readonly ledgers: ReadonlyMap<string, TypeCounts>;
}

export function workloadViewOf(
  workload: ObservedWorkload,
  { changes, replicaSets, ledgers }: WorkloadSurroundings,
): WorkloadView {
  const { metadata, replicas, rollout } = workload;
  const { name, namespace = '', uid } = metadata;
  const { deleting, generation, observedGeneration, updatedReplicas, availableReplicas } = workload;
  const common = {
    name,
    namespace,
    uid,
    deleting,
    generation,
    observedGeneration,
    replicas,
    updatedReplicas,
    availableReplicas,
    ...changes,
  };
  if (rollout.kind === 'StatefulSet') return { ...common, ...rollout };
  return {
    ...common,
    ...rollout,
    revisions: replicaSets.map((replicaSet) => ({
      uid: replicaSet.metadata.uid,
      name: replicaSet.metadata.name,
      replicas: replicaSet.replicas,
      template: replicaSet.template,
      ledger: ledgers.get(replicaSet.metadata.uid) ?? null,
    })),
  };
}
