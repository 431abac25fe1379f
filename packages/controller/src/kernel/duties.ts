import type { Executor } from './disruption/executor.ts';
import type { Holds } from './disruption/holds.ts';
import type { Cluster } from './cluster/cluster.ts';

const FOLLOW_MS = 10_000;

/** Ends disruptions of workloads that nobody looks at, too. Returns the way out. */
export function followDisruptions(executor: Pick<Executor, 'followAll'>): () => void {
  const timer = setInterval(() => executor.followAll(), FOLLOW_MS);
  return () => clearInterval(timer);
}

/** What the API server refused because of PDBs may be allowed when one of them has changed. Returns the way out. */
export function liftHolds(cluster: Cluster, holds: Pick<Holds, 'lift'>): () => void {
  return cluster.pdbs.subscribe((change) => {
    const isNews =
      change.type !== 'updated' || change.previous.view.generation !== change.object.view.generation;
    if (!isNews) return;
    for (const { metadata } of cluster.workloadsIn(change.object.metadata.namespace ?? '')) {
      holds.lift(metadata.uid);
    }
  });
}
