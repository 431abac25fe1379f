import { countPods, type ObservedReplicaSet, type ObservedWorkload, type PodCounts } from '@spotalis/core';
import { asError } from '@spotalis/kube';
import { type Ledger, LedgerUnavailable } from '@spotalis/ledger';
import { type Cluster, revisionOf } from '../../../kernel/cluster/cluster.ts';
import type { LedgerReading } from '../moves/snapshot.ts';

export interface LedgersParts {
  readonly cluster: Cluster;
  /** Undefined where it is inside the one webhook, and only that can ask it. */
  readonly ledger: Pick<Ledger, 'counts' | 'breaker'> | undefined;
  /** Makes the ledger of a ReplicaSet agree with a LIST. */
  readonly verify: (replicaSetUid: string) => Promise<void>;
}

/** What the ledgers of a workload hold. */
export class Ledgers {
  readonly #parts: LedgersParts;

  constructor(parts: LedgersParts) {
    this.#parts = parts;
  }

  async read(workload: ObservedWorkload): Promise<LedgerReading> {
    const counts = new Map<string, PodCounts>();
    try {
      for (const replicaSet of this.#awake(workload)) {
        counts.set(replicaSet.metadata.uid, await this.#countsOf(workload, replicaSet));
      }
      const breaker = (await this.#parts.ledger?.breaker(workload.metadata.uid)) ?? null;
      return { kind: 'reachable', counts, breaker };
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      return { kind: 'unreachable', code: error.code, counts, breaker: null };
    }
  }

  /** After a LIST of each ReplicaSet; a LIST that fails counts as a ledger out of reach. Never throws. */
  async verified(workload: ObservedWorkload): Promise<LedgerReading> {
    try {
      if (this.#parts.ledger !== undefined) {
        for (const { metadata } of this.#awake(workload)) await this.#parts.verify(metadata.uid);
      }
      return await this.read(workload);
    } catch (thrown) {
      const { code } = asError(thrown);
      return {
        kind: 'unreachable',
        code: typeof code === 'string' ? code : 'LIST_FAILED',
        counts: new Map(),
        breaker: null,
      };
    }
  }

  #awake(workload: ObservedWorkload): readonly ObservedReplicaSet[] {
    const { cluster } = this.#parts;
    return cluster
      .replicaSetsOf(workload)
      .filter(
        ({ replicas, metadata }) => replicas > 0 || cluster.pods.countBy('controller', metadata.uid) > 0,
      );
  }

  async #countsOf(workload: ObservedWorkload, replicaSet: ObservedReplicaSet): Promise<PodCounts> {
    const { ledger, cluster } = this.#parts;
    if (ledger !== undefined) return ledger.counts(revisionOf(workload, replicaSet));
    // The webhook that holds it watches the same pods.
    return countPods(cluster.pods.by('controller', replicaSet.metadata.uid), cluster);
  }
}
