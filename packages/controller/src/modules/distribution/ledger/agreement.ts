import type { ObservedReplicaSet } from '@spotalis/core';
import type { LedgerEntry, LedgerPod } from '@spotalis/ledger';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';
import { ledgerPodOf } from './observer.ts';

/** Whether a ledger holds exactly the pods of its ReplicaSet that are watched, each as it is. */
export type Agrees = (replicaSet: ObservedReplicaSet, entries: readonly LedgerEntry[]) => boolean;

/** `isFollowed`: whether the watch of pods is alive. What it showed last says nothing once it is not. */
export const agreementWith =
  (cluster: Cluster, isFollowed: () => boolean): Agrees =>
  ({ metadata }, entries) => {
    if (!isFollowed()) return false;
    const missing = new Map(entries.map((entry) => [entry.token, entry]));
    const found = new Set<string>();
    for (const pod of cluster.pods.by('controller', metadata.uid)) {
      if (pod.ended) continue;
      const expected = ledgerPodOf(pod, cluster.nodeTypeOf(pod));
      // A template that carries somebody's token gives it to all its pods.
      if (found.has(expected.token)) continue;
      const entry = missing.get(expected.token);
      if (entry?.state !== 'live' || !holds(entry, expected)) return false;
      missing.delete(expected.token);
      found.add(expected.token);
    }
    return missing.size === 0;
  };

function holds(entry: LedgerEntry, { type, rank, substitute = false }: LedgerPod): boolean {
  // A type that nobody can tell any more stays in the ledger as it was.
  if (type === null) return true;
  return (
    entry.type === type && entry.substitute === substitute && (rank === undefined || entry.rank === rank)
  );
}
