import type { Cluster } from '../cluster/cluster.ts';
import type { Workers } from '../workers.ts';
import type { Reconciler } from '../../modules/distribution/reconciler.ts';
import { enqueueAll, followChanges, touchReplicaSet } from '../../modules/distribution/triggers.ts';

export interface LeadingParts {
  readonly cluster: Cluster;
  readonly workers: Workers;
  readonly reconciler: Pick<Reconciler, 'reconcile'>;
  /** Workloads that are not as they should be. */
  readonly drifting: () => Iterable<string>;
  /** What else begins with leading, in this order. Each returns its way out. */
  readonly duties: readonly (() => () => void | Promise<void>)[];
}

/** What only the leader does, from winning the Lease to the stop. */
export class Leading {
  readonly #parts: LeadingParts;
  #leave: readonly (() => void | Promise<void>)[] | undefined;

  constructor(parts: LeadingParts) {
    this.#parts = parts;
  }

  start(): void {
    const { cluster, workers, reconciler, drifting, duties } = this.#parts;
    this.#leave = [followChanges(cluster, workers.queue, drifting), ...duties.map((begin) => begin())];
    enqueueAll(cluster, workers.queue);
    workers.start((key) => reconciler.reconcile(key));
  }

  /** Looks at everything again: what all workloads depend on has changed. */
  again(): void {
    if (this.#leave !== undefined) enqueueAll(this.#parts.cluster, this.#parts.workers.queue);
  }

  /** Looks at one workload again, after so long. */
  lookAgain(subject: string, afterMs: number): void {
    if (this.#leave !== undefined) this.#parts.workers.queue.add(subject, { afterMs });
  }

  /** What the ledger holds of a ReplicaSet has changed, which no event of the cluster tells. */
  ledgerChanged(replicaSetUid: string): void {
    if (this.#leave === undefined) return;
    const { cluster, workers } = this.#parts;
    const [replicaSet] = cluster.replicaSets.by('uid', replicaSetUid);
    if (replicaSet !== undefined) touchReplicaSet(cluster, workers.queue, replicaSet);
  }

  async stop(): Promise<void> {
    const left = (this.#leave ?? []).map((leave) => leave());
    this.#leave = undefined;
    await Promise.all([...left, this.#parts.workers.stop()]);
  }
}
