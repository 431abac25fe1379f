import type { Placement } from '@spotalis/core';
import { LOW_PRIORITY } from '@spotalis/kube';
import type { Cluster } from '../../kernel/cluster/cluster.ts';
import type { Touch } from '../../kernel/module.ts';
import { followChanges, subjectsIn, touchReplicaSet, type Waiting } from './triggers.ts';

/** What has to be looked at, while this process leads. */
export class Attention {
  readonly #cluster: Cluster;
  readonly #placement: Placement;
  #touch: Touch | undefined;

  constructor(cluster: Cluster, placement: Placement) {
    this.#cluster = cluster;
    this.#placement = placement;
  }

  /** `drifting`: those that wait for something that other objects decide. Returns the way out. */
  follow(touch: Touch, drifting: Waiting['drifting']): () => void {
    this.#touch = touch;
    const leave = followChanges(this.#cluster, { add: touch }, { drifting, placement: this.#placement });
    return () => {
      this.#touch = undefined;
      leave();
    };
  }

  /** Everything again: what all workloads depend on has changed. */
  again(): void {
    if (this.#touch === undefined) return;
    for (const subject of subjectsIn(this.#cluster)) this.#touch(subject, { priority: LOW_PRIORITY });
  }

  /** One workload again, after so long. */
  lookAgain(subject: string, afterMs: number): void {
    this.#touch?.(subject, { afterMs });
  }

  /** What the ledger holds of a ReplicaSet has changed, which no event of the cluster tells. */
  ledgerChanged(replicaSetUid: string): void {
    const [replicaSet] = this.#cluster.replicaSets.by('uid', replicaSetUid);
    if (this.#touch === undefined || replicaSet === undefined) return;
    touchReplicaSet(this.#cluster, { add: this.#touch }, replicaSet);
  }
}
