import { isDeepStrictEqual } from 'node:util';
import type { ObservedNode, ObservedPod, ObservedReplicaSet } from '@spotalis/core';
import type { WorkQueue } from '@spotalis/kube';
import type { Cluster } from '../../kernel/cluster/cluster.ts';
import { subjectOfNamespace, subjectOfWorkload } from '../../kernel/cluster/subject.ts';

/** A burst of pods is counted a few times, not once per pod. */
const SETTLE_MS = 500;

/**
 * Which workloads have to be looked at again after a change. `drifting`: those that wait for something that other
 * objects decide, such as room on a node. Returns the way out.
 */
export function followChanges(
  cluster: Cluster,
  queue: Pick<WorkQueue, 'add'>,
  drifting: () => Iterable<string>,
): () => void {
  const touchPod = (pod: ObservedPod): void => {
    const workload =
      pod.placeholder === null
        ? cluster.homeOf(pod)?.workload
        : cluster.workloadByUid(pod.placeholder.workloadUid);
    if (workload !== undefined) queue.add(subjectOfWorkload(workload), { afterMs: SETTLE_MS });
  };
  const leave = [
    cluster.pods.subscribe((change) => touchPod(change.object)),
    cluster.replicaSets.subscribe(({ object }) => touchReplicaSet(cluster, queue, object)),
    ...[cluster.deployments, cluster.statefulSets].map((workloads) =>
      workloads.subscribe(({ object }) => queue.add(subjectOfWorkload(object))),
    ),
    cluster.namespaces.subscribe(({ object }) => {
      queue.add(subjectOfNamespace(object.metadata.name));
      for (const workload of cluster.workloadsIn(object.metadata.name))
        queue.add(subjectOfWorkload(workload));
    }),
    cluster.nodes.subscribe((change) => {
      if (change.type === 'updated' && isHeartbeat(change.previous, change.object)) return;
      for (const subject of drifting()) queue.add(subject, { afterMs: SETTLE_MS });
      for (const pod of cluster.pods.by('node', change.object.metadata.name)) touchPod(pod);
    }),
    cluster.pdbs.subscribe(({ object }) => {
      const inNamespace = `/${object.metadata.namespace ?? ''}/`;
      for (const subject of drifting()) {
        if (subject.includes(inNamespace)) queue.add(subject, { afterMs: SETTLE_MS });
      }
    }),
  ];
  return () => {
    for (const one of leave) one();
  };
}

/** Nothing has changed but what nobody looks at. */
function isHeartbeat(
  { metadata: _before, ...previous }: ObservedNode,
  { metadata: _now, ...current }: ObservedNode,
): boolean {
  return isDeepStrictEqual(previous, current);
}

/** Its Deployment, soon. */
export function touchReplicaSet(
  cluster: Cluster,
  queue: Pick<WorkQueue, 'add'>,
  replicaSet: ObservedReplicaSet,
): void {
  const workload = cluster.deploymentOf(replicaSet);
  if (workload !== undefined) queue.add(subjectOfWorkload(workload), { afterMs: SETTLE_MS });
}

/** Everything there is. */
export function* subjectsIn(cluster: Cluster): Generator<string> {
  for (const workload of cluster.workloads()) yield subjectOfWorkload(workload);
  for (const { metadata } of cluster.namespaces.values()) yield subjectOfNamespace(metadata.name);
}
