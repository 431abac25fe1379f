import { type ObservedPod, type ObservedWorkload, readPodMark } from '@spotalis/core';
import type { Cluster } from '../cluster/cluster.ts';
import type { FlightPod, Scene } from './register.ts';

/** A workload as its moves see it now; undefined: it is gone. */
export function sceneOf(cluster: Cluster, workload: ObservedWorkload | undefined): Scene {
  if (workload === undefined) return { replicas: undefined, pods: [] };
  return {
    replicas: workload.replicas,
    pods: cluster
      .podsOf(workload)
      .filter((pod) => !isLeftOver(pod))
      .map((pod) => flightPodOf(cluster, pod)),
  };
}

/** Failed or Succeeded, and nobody deletes it: its owner does not count it either. */
const isLeftOver = ({ ended, terminating }: ObservedPod): boolean => ended && !terminating;

function flightPodOf(cluster: Cluster, pod: ObservedPod): FlightPod {
  const { metadata, ended, ready, annotations, createdAtMs, deletionMs } = pod;
  // A StatefulSet's pods have no token; the type alone says that admission saw them.
  const { type, numbers } = readPodMark(annotations);
  const marked = type ?? undefined;
  return {
    uid: metadata.uid,
    ended,
    ready,
    createdAtMs,
    deletionMs,
    type: cluster.nodeTypeOf(pod) ?? marked,
    steered: marked !== undefined,
    numbers,
    override: pod.override,
  };
}
