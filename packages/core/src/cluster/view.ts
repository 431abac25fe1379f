import { foreignKeys } from '../policy/keys.ts';
import type { NodeView } from './node.ts';
import type { WorkloadPod } from './workload-pod.ts';
import { addResources, hasRoom, largerResources, type Resources, subtractResources } from './resources.ts';
import type { PodCounts } from '../policy/target.ts';
import type { TemplateView, WorkloadView } from './workload.ts';
import type { ObservedNode } from './observed-node.ts';
import type { ObservedPod } from './observed-pod.ts';
import type { ObservedReplicaSet } from './replicaset.ts';
import { reachOf, type VolumeLookup } from './volume.ts';
import type { ObservedWorkload } from './observed-workload.ts';

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
  const { unschedulableSinceMs, holdup } = pod;
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
    holdup,
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
  /** Its own. */
  readonly pods: readonly ObservedPod[];
  /** A Deployment's own. */
  readonly replicaSets: readonly ObservedReplicaSet[];
  /** What their ledgers hold, by the UID of the ReplicaSet. */
  readonly ledgers: ReadonlyMap<string, PodCounts>;
}

export function workloadViewOf(
  workload: ObservedWorkload,
  { changes, pods, replicaSets, ledgers }: WorkloadSurroundings,
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
  if (rollout.kind === 'StatefulSet') {
    const updated = pods.filter(
      ({ labels }) => labels[foreignKeys.controllerRevisionHash] === rollout.updateRevision,
    );
    return { ...common, ...rollout, template: withAdditions(rollout.template, uid, updated) };
  }
  return {
    ...common,
    ...rollout,
    revisions: replicaSets.map((replicaSet) => ({
      uid: replicaSet.metadata.uid,
      name: replicaSet.metadata.name,
      replicas: replicaSet.replicas,
      template: withAdditions(replicaSet.template, replicaSet.metadata.uid, pods),
      ledger: ledgers.get(replicaSet.metadata.uid) ?? null,
    })),
  };
}

/**
 * A pod may ask for more than its template: admission adds sidecars, the defaults of a LimitRange, the overhead of a
 * runtime class. As long as one is there to tell, the next one is expected to ask for as much.
 */
function withAdditions(
  template: TemplateView,
  controllerUid: string,
  pods: readonly ObservedPod[],
): TemplateView {
  let { requests } = template;
  for (const { controller, ended, requests: asked } of pods) {
    if (controller?.uid !== controllerUid || ended || hasRoom(requests, asked)) continue;
    requests = largerResources(requests, asked);
  }
  return requests === template.requests ? template : { ...template, requests };
}
