import type { ObservedReplicaSet } from '@spotalis/core';
import { LOW_PRIORITY, type ReconcileResult, type WorkQueue } from '@spotalis/kube';
import { type Ledger, LedgerUnavailable, type PodList, type Revision } from '@spotalis/ledger';
import { type Cluster, revisionOf } from './cluster.ts';
import type { Outage } from './outage.ts';

/** How old an error that nothing announced may become. */
const PERIOD_MS = 60_000;
/** Each period is up to this much longer, so that ReplicaSets made together do not list together for ever. */
const SPREAD = 0.1;
/** After a loss of the ledger all are listed anew, but not faster than this. */
const PACE_MS = 25;

export interface ResyncParts {
  readonly cluster: Cluster;
  readonly ledger: Pick<Ledger, 'markList' | 'merge' | 'remove'>;
  readonly queue: Pick<WorkQueue, 'add'>;
  readonly outage: Outage;
  readonly list: (replicaSet: ObservedReplicaSet, revision: Revision) => Promise<PodList>;
  readonly mayWrite: () => boolean;
  /** The leader lists by the clock; everyone does when something happened. */
  readonly isLeader: () => boolean;
  readonly onLedgerChange: (replicaSetUid: string) => void;
  readonly random: () => number;
}

/**
 * Makes each ledger agree with a LIST: by the clock, when the ledger was lost, and when a workload becomes ours.
 * And drops it when its ReplicaSet goes. The keys of its queue are UIDs of ReplicaSets.
 */
export class Resync {
  readonly #parts: ResyncParts;
  /** ReplicaSets that have a ledger. The revision is still needed when they and their owner are gone. */
  readonly #revisions = new Map<string, Revision>();
  #leave: readonly (() => void)[] = [];

  constructor(parts: ResyncParts) {
    this.#parts = parts;
  }

  start(): void {
    const { cluster } = this.#parts;
    this.#leave = [
      cluster.replicaSets.subscribe((change) => {
        if (change.type === 'deleted') this.#gone(change.object);
        else if (this.#adopt(change.object) || (change.type === 'updated' && isWoken(change))) {
          this.#afterOnePeriod(change.object);
        }
      }),
      cluster.deployments.subscribe(({ type, object }) => {
        const replicaSets = cluster.replicaSetsOf(object);
        if (type === 'updated') this.#adoptNow(replicaSets);
        else replicaSets.filter((one) => this.#adopt(one)).forEach((one) => this.#afterOnePeriod(one));
      }),
      cluster.namespaces.subscribe(({ object }) => {
        for (const workload of cluster.workloadsIn(object.metadata.name)) {
          this.#adoptNow(cluster.replicaSetsOf(workload));
        }
      }),
    ];
    for (const replicaSet of cluster.replicaSets.values()) this.#adopt(replicaSet);
  }

  stop(): void {
    for (const leave of this.#leave) leave();
    this.#leave = [];
  }

  get revisions(): ReadonlyMap<string, Revision> {
    return this.#revisions;
  }

  /** These, soon, but paced. */
  soon(uids: Iterable<string>): void {
    let turn = 0;
    for (const uid of uids) {
      this.#parts.queue.add(uid, { priority: LOW_PRIORITY, afterMs: PACE_MS * turn });
      turn++;
    }
  }

  /** All of them within one period: what a new leader begins with. */
  spread(): void {
    for (const uid of this.#revisions.keys()) this.#later(uid, this.#parts.random());
  }

  /** The reconciler of the queue of ReplicaSets. */
  async resync(uid: string): Promise<ReconcileResult | undefined> {
    const { mayWrite, outage, isLeader, random, cluster } = this.#parts;
    if (!mayWrite()) {
      // Its ledger, if it has one, expires by itself.
      if (cluster.replicaSets.by('uid', uid).length === 0) this.#revisions.delete(uid);
      return undefined;
    }
    try {
      if (!(await this.#listOrRemove(uid))) return undefined;
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      return { requeueAfterMs: outage.failed(error) };
    }
    outage.worked();
    this.#parts.onLedgerChange(uid);
    if (isLeader()) this.#later(uid, 1 + random() * SPREAD);
    return undefined;
  }

  /** Now, and whoever asks waits for it: before a decision that rests on the ledger. Throws as the ledger does. */
  async verify(uid: string): Promise<void> {
    await this.#listOrRemove(uid);
    this.#parts.outage.worked();
  }

  /** Returns whether there is a next time. */
  async #listOrRemove(uid: string): Promise<boolean> {
    const { cluster, ledger, list } = this.#parts;
    const revision = this.#revisions.get(uid);
    if (revision === undefined) return false;
    const [replicaSet] = cluster.replicaSets.by('uid', uid);
    if (replicaSet === undefined) {
      await ledger.remove(revision);
      this.#revisions.delete(uid);
      return false;
    }
    if (cluster.deploymentOf(replicaSet) === undefined || this.#isAsleep(replicaSet)) return false;
    // The mark comes first: what happens after it may be missing from the list.
    const mark = await ledger.markList(revision);
    await ledger.merge(revision, await list(replicaSet, revision), mark);
    return true;
  }

  /** Wants no pods and has none: nothing in its ledger matters until that changes. */
  #isAsleep({ replicas, metadata }: ObservedReplicaSet): boolean {
    return replicas === 0 && this.#parts.cluster.pods.countBy('controller', metadata.uid) === 0;
  }

  /** Returns whether it is newly ours. */
  #adopt(replicaSet: ObservedReplicaSet): boolean {
    const { cluster } = this.#parts;
    const { uid } = replicaSet.metadata;
    const workload = cluster.deploymentOf(replicaSet);
    // Owners are deleted before what they own; the ledger still has to go with its ReplicaSet.
    if (workload === undefined) return false;
    if (!cluster.isManaged(workload)) {
      this.#revisions.delete(uid);
      return false;
    }
    if (this.#revisions.get(uid)?.workloadUid === workload.metadata.uid) return false;
    this.#revisions.set(uid, revisionOf(workload, replicaSet));
    return true;
  }

  /** What happened to pods while the workload was not ours, nobody told the ledger. */
  #adoptNow(replicaSets: readonly ObservedReplicaSet[]): void {
    for (const replicaSet of replicaSets) {
      if (this.#adopt(replicaSet)) {
        this.#parts.queue.add(replicaSet.metadata.uid, { priority: LOW_PRIORITY });
      }
    }
  }

  /** A new ReplicaSet is no reason to list at once: the webhook knows the pods it has just decided on. */
  #afterOnePeriod({ metadata }: ObservedReplicaSet): void {
    if (this.#parts.isLeader()) this.#later(metadata.uid, 1);
  }

  #gone({ metadata }: ObservedReplicaSet): void {
    if (this.#revisions.has(metadata.uid)) this.#parts.queue.add(metadata.uid, { priority: LOW_PRIORITY });
  }

  #later(uid: string, periods: number): void {
    this.#parts.queue.add(uid, { priority: LOW_PRIORITY, afterMs: PERIOD_MS * periods });
  }
}

const isWoken = (change: {
  readonly object: ObservedReplicaSet;
  readonly previous: ObservedReplicaSet;
}): boolean => change.previous.replicas === 0 && change.object.replicas > 0;
