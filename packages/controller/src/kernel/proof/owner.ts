import type { Cluster } from '../cluster/cluster.ts';

/** The Deployment that a pod is of; null for a process that is in no such pod. */
export function deploymentOfPod(cluster: Cluster, namespace: string, podName: string) {
  const pod = cluster.pods.get(`${namespace}/${podName}`);
  const workload = pod === undefined ? undefined : cluster.homeOf(pod)?.workload;
  if (workload?.workloadKind !== 'Deployment') return null;
  const { name, uid } = workload.metadata;
  return { name, uid };
}
