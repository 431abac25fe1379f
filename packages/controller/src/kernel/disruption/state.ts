import type { ObservedPod } from '@spotalis/core';
import type { Cluster } from '../cluster/cluster.ts';

/** A workload as it is now. */
export interface WorkloadState {
  /** Undefined: it is gone, or of a kind that nobody watches. */
  readonly replicas: number | undefined;
  readonly pods: readonly ObservedPod[];
}

export function stateOf(cluster: Cluster, workloadUid: string): WorkloadState {
  const workload = cluster.workloadByUid(workloadUid);
  const pods = workload === undefined ? cluster.pods.by('controller', workloadUid) : cluster.podsOf(workload);
  return { replicas: workload?.replicas, pods: pods.filter((pod) => !isLeftOver(pod)) };
}

/** Failed or Succeeded, and nobody deletes it: its owner does not count it either. */
const isLeftOver = ({ ended, terminating }: ObservedPod): boolean => ended && !terminating;
