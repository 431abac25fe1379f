import type { Cluster } from '../observe/cluster.ts';
import type { Workers } from '../workers.ts';
import type { Reconciler } from './reconciler.ts';
import { enqueueAll, followChanges, touchReplicaSet } from './triggers.ts';

/** What only the leader does, from winning the Lease to the stop. */
export class Leading {
  readonly #cluster: Cluster;
  readonly #workers: Workers;
  readonly #reconciler: Reconciler;
  readonly #began: () => void;
  #unfollow: (() => void) | undefined;

  constructor(cluster: Cluster, workers: Workers, reconciler: Reconciler, began: () => void) {
    this.#cluster = cluster;
    this.#workers = workers;
    this.#reconciler = reconciler;
    this.#began = began;
  }

  start(): void {
    this.#unfollow = followChanges(this.#cluster, this.#workers.queue);
    enqueueAll(this.#cluster, this.#workers.queue);
    this.#workers.start((key) => this.#reconciler.reconcile(key));
    this.#began();
  }

  /** Looks at everything again: what all workloads depend on has changed. */
  again(): void {
    if (this.#unfollow !== undefined) enqueueAll(this.#cluster, this.#workers.queue);
  }

  /** What the ledger holds of a ReplicaSet has changed, which no event of the cluster tells. */
  ledgerChanged(replicaSetUid: string): void {
    if (this.#unfollow === undefined) return;
    const [replicaSet] = this.#cluster.replicaSets.by('uid', replicaSetUid);
    if (replicaSet !== undefined) touchReplicaSet(this.#cluster, this.#workers.queue, replicaSet);
  }

  async stop(): Promise<void> {
    this.#unfollow?.();
    this.#unfollow = undefined;
    await this.#workers.stop();
  }
}
