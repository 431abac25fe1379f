import type { ClusterView } from '../../cluster/cluster-view.ts';
import type { ObservedWorkload } from '../../cluster/observed-workload.ts';
import { podViewOf, type SeenChanges, workloadViewOf } from '../../cluster/view.ts';
import type { PodCounts } from '../../policy/target.ts';
import type { RebalanceSnapshot } from './snapshot.ts';

/** What the cluster does not tell: each program finds it out in its own way. */
export interface Circumstances extends Omit<RebalanceSnapshot, 'workload' | 'pods' | 'pdbs'> {
  readonly changes: SeenChanges;
  /** What the ledgers of the workload hold, by the UID of the ReplicaSet. */
  readonly ledgers: ReadonlyMap<string, PodCounts>;
}

/** The snapshot of a workload, from what a cluster tells and from the circumstances. */
export function snapshotOf(
  cluster: ClusterView,
  workload: ObservedWorkload,
  { changes, ledgers, ...circumstances }: Circumstances,
): RebalanceSnapshot {
  const pods = cluster.podsOf(workload);
  const replicaSets = cluster.replicaSetsOf(workload);
  return {
    ...circumstances,
    workload: workloadViewOf(workload, { changes, pods, replicaSets, ledgers }),
    pods: pods.map((pod) => podViewOf(pod, cluster)),
    pdbs: cluster.pdbsIn(workload.metadata.namespace ?? '').map(({ view }) => view),
  };
}
