import { type ApiClient, type ListQuery, resource } from '@spotalis/kube';
import type { Ledger } from '@spotalis/ledger';
import type { Component, Logger } from '@spotalis/runtime';
import type { Workers, WorkersMaker } from '../../../kernel/workers.ts';
import { agreementWith } from './agreement.ts';
import { Announcements, type Place } from './announcements.ts';
import { Announcer } from './announcer.ts';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';
import { listPods } from './listing.ts';
import { LossWatch } from './loss.ts';
import { Observer } from './observer.ts';
import { Outage } from './outage.ts';
import { Resync } from './resync.ts';

const pods = resource('v1', 'pods', 'Pod');
/** A flush or a failover of the ledger is noticed after two of these. */
const LOOK_FOR_LOSS_MS = 1_000;

export interface ObservationParts {
  readonly cluster: Cluster;
  readonly ledger: Ledger;
  readonly client: ApiClient;
  readonly workers: WorkersMaker;
  readonly mayWrite: () => boolean;
  readonly isLeader: () => boolean;
  readonly podsAreFollowed: () => boolean;
  /** The ledger of a ReplicaSet holds something else now, as far as this replica had a part in it. */
  readonly onLedgerChange: (replicaSetUid: string) => void;
  readonly logger: Logger;
  readonly now: () => number;
  readonly random: () => number;
}

/** All that keeps the ledger true, in every replica. Starts when the stores are full. */
export class Observation implements Component {
  readonly name = 'observation';
  readonly #cluster: Cluster;
  readonly #announcements = new Announcements();
  readonly #announcing: Workers;
  readonly #resyncing: Workers;
  readonly #announcer: Announcer;
  readonly #observer: Observer;
  readonly #resync: Resync;
  readonly #outage: Outage;
  readonly #loss: LossWatch;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  #watch: NodeJS.Timeout | undefined;

  constructor(parts: ObservationParts) {
    const { cluster, ledger, client, mayWrite, isLeader, podsAreFollowed, onLedgerChange } = parts;
    const { logger, now, random } = parts;
    this.#cluster = cluster;
    this.#logger = logger;
    // One call a pod, and each is a round trip: enough at once to fill a pipeline.
    this.#announcing = parts.workers('announce', 16);
    // LISTs are dear to the API server and in no hurry.
    this.#resyncing = parts.workers('resync', 2);
    this.#outage = new Outage({
      began: (error) => logger.warn('ledger unreachable; what pods do is kept and told later', { error }),
      ended: (lastedMs) => {
        logger.info('ledger reachable again', { outageMs: Math.round(lastedMs) });
        this.#announcer.catchUp();
      },
      now,
      random,
    });
    this.#announcer = new Announcer({
      announcements: this.#announcements,
      ledger,
      queue: this.#announcing.queue,
      outage: this.#outage,
      mayWrite,
      onLedgerChange: (replicaSetUid) => {
        this.#resync.touched(replicaSetUid);
        onLedgerChange(replicaSetUid);
      },
    });
    this.#observer = new Observer({
      cluster,
      announcements: this.#announcements,
      deliver: (places, urgency) => this.#announcer.deliver(places, urgency),
    });
    const nodeTypeOf = (podKey: string) => {
      const pod = cluster.pods.get(podKey);
      return pod === undefined ? undefined : cluster.nodeTypeOf(pod);
    };
    const pages = (query: ListQuery, signal: AbortSignal) => client.pages(pods, query, { signal });
    this.#resync = new Resync({
      cluster,
      ledger,
      queue: this.#resyncing.queue,
      outage: this.#outage,
      agrees: agreementWith(cluster, podsAreFollowed),
      list: (replicaSet) => listPods({ pages, nodeTypeOf }, replicaSet, this.#stopping.signal),
      mayWrite,
      isLeader,
      onLedgerChange,
      random,
    });
    this.#loss = new LossWatch({
      ledger,
      revisions: () => this.#resync.revisions,
      toldOf: (uid) => this.#placesTold(uid),
      random,
      failed: (error) => logger.error('cannot tell whether the ledger lost anything', { error }),
    });
  }

  start(): void {
    this.#observer.start();
    this.#resync.start();
    this.#announcing.start((place) => this.#announcer.announce(place));
    this.#resyncing.start((uid) => this.#resync.resync(uid));
    this.#watch = setInterval(() => void this.#lookForLoss(), LOOK_FOR_LOSS_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#watch);
    this.#stopping.abort();
    this.#observer.stop();
    this.#resync.stop();
    await Promise.all([this.#announcing.stop(), this.#resyncing.stop()]);
  }

  /** From now on this replica lists by the clock. */
  led(): void {
    this.#resync.spread();
  }

  /** Makes the ledger of a ReplicaSet agree with a LIST now. Throws as the ledger and the API client do. */
  verify(replicaSetUid: string): Promise<void> {
    return this.#resync.verify(replicaSetUid);
  }

  /** Read-only mode has ended. */
  writesAllowed(): void {
    this.#announcer.catchUp();
    this.#resync.soon(this.#resync.revisions.keys());
  }

  state(): unknown {
    return {
      places: this.#announcements.size,
      undelivered: [...this.#announcements.undelivered()].length,
      ledgers: this.#resync.revisions.size,
      ledgerOutage: this.#outage.isOn,
    };
  }

  /** Distinct ones: a template that carries somebody's token gives it to all its pods. */
  #placesTold(replicaSetUid: string): number {
    const places = new Set<Place>();
    for (const { metadata } of this.#cluster.pods.by('controller', replicaSetUid)) {
      const place = this.#announcements.heldPlace(metadata.uid);
      if (place !== undefined) places.add(place);
    }
    return places.size;
  }

  async #lookForLoss(): Promise<void> {
    const lost = [...(await this.#loss.look())];
    if (lost.length === 0) return;
    this.#logger.info('the ledger may have lost entries; listing pods', { replicaSets: lost.length });
    this.#resync.soon(lost);
  }
}
