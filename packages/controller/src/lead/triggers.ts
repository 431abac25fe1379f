import { LOW_PRIORITY, type WorkQueue } from '@spotalis/kube';
import type { Cluster } from '../observe/cluster.ts';
import type { ObservedPod } from '../observe/pod.ts';
import type { ObservedReplicaSet } from '../observe/replicaset.ts';
import { subjectOfNamespace, subjectOfWorkload } from './subject.ts';

/** A burst of pods is counted a few times, not once per pod. */
const SETTLE_MS = 500;

/** Which workloads have to be looked at again after a change. Returns the way out. */
export function followChanges(cluster: Cluster, queue: Pick<WorkQueue, 'add'>): () => void {
  const touchPod = (pod: ObservedPod): void => {
    const home = cluster.homeOf(pod);
    if (home !== undefined) queue.add(subjectOfWorkload(home.workload), { afterMs: SETTLE_MS });
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
      if (change.type === 'updated' && change.previous.type === change.object.type) return;
      for (const pod of cluster.pods.by('node', change.object.metadata.name)) touchPod(pod);
    }),
  ];
  return () => {
    for (const one of leave) one();
  };
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

/** Everything there is, when there is time. */
export function enqueueAll(cluster: Cluster, queue: Pick<WorkQueue, 'add'>): void {
  for (const workload of cluster.workloads()) {
    queue.add(subjectOfWorkload(workload), { priority: LOW_PRIORITY });
  }
  for (const { metadata } of cluster.namespaces.values()) {
    queue.add(subjectOfNamespace(metadata.name), { priority: LOW_PRIORITY });
  }
}
