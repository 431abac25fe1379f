import type { ObservedPod } from '@spotalis/core';
import type { Cluster } from '../cluster/cluster.ts';

/** A workload as it is now. */
export interface WorkloadState {
  /** Undefined: it is gone, or of a kind that nobody watches. */
  readonly replicas: number | undefined;
  readonly pods: readonly ObservedPod[];
}

/** A pod that goes, or may. */
export interface Victim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** `victim`: shown whoever owns it, because the owners of most pods are not kept. */
export function stateOf(
  cluster: Pick<Cluster, 'workloadByUid' | 'podsOf' | 'pods'>,
  workloadUid: string,
  victim?: Victim,
): WorkloadState {
  const workload = cluster.workloadByUid(workloadUid);
  if (workload === undefined) {
    const pod = victim && cluster.pods.get(`${victim.namespace}/${victim.name}`);
    return { replicas: undefined, pods: pod?.metadata.uid === victim?.uid && pod !== undefined ? [pod] : [] };
  }
  const pods = cluster.podsOf(workload);
  return { replicas: workload.replicas, pods: pods.filter((pod) => !isLeftOver(pod)) };
}

/** Failed or Succeeded, and nobody deletes it: its owner does not count it either. */
const isLeftOver = ({ ended, terminating }: ObservedPod): boolean => ended && !terminating;
