import { readPodMark } from '../capacity/mark.ts';
import type { PodCounts } from '../policy/target.ts';
import type { ClusterView } from './cluster-view.ts';
import type { ObservedPod } from './observed-pod.ts';

/** What a ledger holds of these pods when it is right: each by its node, or by its mark where the node does not tell. */
export function countPods(pods: Iterable<ObservedPod>, cluster: Pick<ClusterView, 'nodeTypeOf'>): PodCounts {
  const counts = { spot: 0, onDemand: 0, untyped: 0 };
  for (const pod of pods) {
    if (pod.ended) continue;
    const type = cluster.nodeTypeOf(pod) ?? readPodMark(pod.annotations).type;
    if (type === 'spot') counts.spot++;
    else if (type === 'on-demand') counts.onDemand++;
    else counts.untyped++;
  }
  return counts;
}
