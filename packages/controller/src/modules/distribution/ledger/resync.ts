import type { ObservedReplicaSet } from '@spotalis/core';
import { LOW_PRIORITY, type ReconcileResult, type WorkQueue } from '@spotalis/kube';
import { type Ledger, LedgerUnavailable, type PodList, type Revision } from '@spotalis/ledger';
import type { Agrees } from './agreement.ts';
import { type Cluster, revisionOf } from '../../../kernel/cluster/cluster.ts';
import type { Outage } from './outage.ts';

/** How old an error that nothing announced may become. */
const PERIOD_MS = 60_000;
/** Each period is up to this much longer, so that ReplicaSets made together do not list together for ever. */
const SPREAD = 0.1;
/** A ledger that agrees with the watched pods is listed all the same after 10 to 20 periods, each at its own time. */
const TRUSTED_PERIODS = 10;
/** After a loss of the ledger all are listed anew, but not faster than this. */
const PACE_MS = 25;

export interface ResyncParts {
  readonly cluster: Cluster;
  readonly ledger: Pick<Ledger, 'entries' | 'markList' | 'merge' | 'remove'>;
  readonly queue: Pick<WorkQueue, 'add'>;
  readonly outage: Outage;
  readonly agrees: Agrees;
  readonly list: (replicaSet: ObservedReplicaSet, revision: Revision) => Promise<PodList>;
  readonly mayWrite: () => boolean;
  /** The leader lists by the clock; everyone does when something happened. */
  readonly isLeader: () => boolean;
  readonly onLedgerChange: (replicaSetUid: string) => void;
  readonly random: () => number;
}

/**
 * Makes each ledger agree with a LIST: by the clock, when the ledger was lost, and when a workload becomes ours.
 * By the clock only where one is needed: at rest, comparing with the watched pods finds the same without asking the
 * API server. What the watch itself may have missed is found by the LIST that each gets now and then all the same.
 * And drops it when its ReplicaSet goes. The keys of its queue are UIDs of ReplicaSets.
 */
export class Resync {
  readonly #parts: ResyncParts;
  /** ReplicaSets that have a ledger. The revision is still needed when they and their owner are gone. */
  readonly #revisions = new Map<string, Revision>();
  /** How many periods more a ledger that was listed may go by the watched pods. */
  readonly #trusted = new Map<string, number>();
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
      this.#trusted.delete(uid);
      this.#parts.queue.add(uid, { priority: LOW_PRIORITY, afterMs: PACE_MS * turn });
      turn++;
    }
  }

  /** What the ledger holds was changed: a LIST has to confirm it before it is trusted. */
  touched(uid: string): void {
    this.#trusted.delete(uid);
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
      if (cluster.replicaSets.by('uid', uid).length === 0) this.#forget(uid);
      return undefined;
    }
    let listed: 'listed' | 'trusted' | 'nothing';
    try {
      listed = await this.#listOrRemove(uid, 'in-doubt');
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      return { requeueAfterMs: outage.failed(error) };
    }
    if (listed === 'nothing') return undefined;
    outage.worked();
    if (listed === 'listed') this.#parts.onLedgerChange(uid);
    if (isLeader()) this.#later(uid, 1 + random() * SPREAD);
    return undefined;
  }

  /** Now, and whoever asks waits for it: before a decision that rests on the ledger. Throws as the ledger does. */
  async verify(uid: string): Promise<void> {
    await this.#listOrRemove(uid, 'always');
    this.#parts.outage.worked();
  }

  /** `nothing`: there is no next time. */
  async #listOrRemove(uid: string, need: 'always' | 'in-doubt'): Promise<'listed' | 'trusted' | 'nothing'> {
    const { cluster, ledger, list } = this.#parts;
    const revision = this.#revisions.get(uid);
    if (revision === undefined) return 'nothing';
    const [replicaSet] = cluster.replicaSets.by('uid', uid);
    if (replicaSet === undefined) {
      await ledger.remove(revision);
      this.#forget(uid);
      return 'nothing';
    }
    if (cluster.deploymentOf(replicaSet) === undefined || this.#isAsleep(replicaSet)) return 'nothing';
    if (need === 'in-doubt' && (await this.#isTrue(replicaSet, revision))) return 'trusted';
    // Before the list: who touches the ledger from now on takes the trust away again.
    this.#trusted.set(uid, Math.ceil(TRUSTED_PERIODS * (1 + this.#parts.random())));
    try {
      // The mark comes first: what happens after it may be missing from the list.
      const mark = await ledger.markList(revision);
      await ledger.merge(revision, await list(replicaSet, revision), mark);
    } catch (error) {
      this.#trusted.delete(uid);
      throw error;
    }
    return 'listed';
  }

  /** A lost confirmation is a pending entry, a lost release one without a pod. */
  async #isTrue(replicaSet: ObservedReplicaSet, revision: Revision): Promise<boolean> {
    const { ledger, agrees } = this.#parts;
    const { uid } = replicaSet.metadata;
    const periods = this.#trusted.get(uid) ?? 0;
    if (periods === 0) return false;
    const entries = await ledger.entries(revision);
    // Touched in the meantime: the two were not read at the same time.
    if (!this.#trusted.has(uid) || !agrees(replicaSet, entries)) return false;
    this.#trusted.set(uid, periods - 1);
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
      this.#forget(uid);
      return false;
    }
    if (this.#revisions.get(uid)?.workloadUid === workload.metadata.uid) return false;
    this.#revisions.set(uid, revisionOf(workload, replicaSet));
    this.#trusted.delete(uid);
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

  #forget(uid: string): void {
    this.#revisions.delete(uid);
    this.#trusted.delete(uid);
  }

  #later(uid: string, periods: number): void {
    this.#parts.queue.add(uid, { priority: LOW_PRIORITY, afterMs: PERIOD_MS * periods });
  }
}

const isWoken = (change: {
  readonly object: ObservedReplicaSet;
  readonly previous: ObservedReplicaSet;
}): boolean => change.previous.replicas === 0 && change.object.replicas > 0;
