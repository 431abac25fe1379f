import { type PolicyNumbers, renumberingsOf, type TypeCounts } from '@spotalis/core';
import { DirtyMarks } from '../dirty.ts';
import {
  type Decision,
  type Knowledge,
  latestMark,
  type ListMark,
  type OwnDecision,
  type PodList,
  type ReplicaCount,
} from '../ledger.ts';
import { type AloneState, decideAlone, startAlone } from '../outage.ts';
import { Agenda } from './agenda.ts';
import { Random } from './random.ts';
import { type Admitted, SimulatedCluster, type SimulatedPod } from './simulated-cluster.ts';
import { SimulatedLedger } from './simulated-ledger.ts';

const revision = { workloadUid: 'workload', replicaSetUid: 'replicaset' };

interface Listing {
  begun: boolean;
  mark: ListMark;
  readonly waiting: ((replicas: ReplicaCount) => void)[];
}

interface Webhook {
  readonly name: string;
  readonly dirty: DirtyMarks;
  /** How old its knowledge of the ReplicaSet is. */
  readonly lagMs: number;
  listing: Listing | undefined;
  /** When it hears of the ledger again; until then it decides alone. */
  stalledUntilMs: number;
  alone: AloneState;
  /** As the ledger said last. */
  counts: TypeCounts;
  /** Its own answers, so that the same call gets the same one again. */
  readonly own: Map<string, Admitted>;
  /** Decided alone, and not yet told to the ledger. */
  untold: OwnDecision[];
}

/** The deadline of one call of the ledger. */
const patienceMs = 200;

/** Three webhooks and two observers around one ledger and one ReplicaSet, with late, doubled and repeated messages. */
export class Simulation {
  readonly agenda = new Agenda();
  readonly random: Random;
  readonly cluster: SimulatedCluster;
  readonly ledger: SimulatedLedger;
  observing = true;
  evictions = 0;
  lists = 0;
  decisions = 0;
  decidedAlone = 0;
  watchLagMs = 2_000;
  /** The share of reviews that is sent twice. */
  repeated = 0.1;
  readonly #webhooks: readonly Webhook[];

  constructor(seed: number, policy: PolicyNumbers) {
    this.random = new Random(seed);
    this.ledger = new SimulatedLedger(this.agenda);
    this.#webhooks = Array.from({ length: 3 }, (_, index) => ({
      name: `${index}`,
      dirty: new DirtyMarks(),
      lagMs: this.random.between(0, 500),
      listing: undefined,
      stalledUntilMs: 0,
      alone: startAlone({ index, of: 3 }, this.random.next()),
      counts: { spot: 0, onDemand: 0 },
      own: new Map(),
      untold: [],
    }));
    this.cluster = new SimulatedCluster(this.agenda, this.random, policy, {
      admit: (uid, answer) => this.#admit(uid, answer),
      event: (pod, kind) => this.#observe(pod, kind),
    });
    this.agenda.after(500, () => this.#resync());
  }

  run(ms: number): void {
    this.agenda.runUntil(this.agenda.nowMs + ms);
  }

  /** Until nothing moves any more. */
  settle(): void {
    for (let seconds = 0; seconds < 300; seconds++) {
      this.run(1_000);
      if (this.cluster.settled()) return;
    }
    throw new Error(`not settled: ${this.cluster.active().length} of ${this.cluster.replicas} pods`);
  }

  reconnect(): void {
    for (const { dirty } of this.#webhooks) dirty.all();
  }

  /** The ledger is out of hearing for so long: for all webhooks, or for one of them while the others go on. */
  stall(forMs: number): void {
    const heard = this.random.chance(0.5) ? this.#webhooks : [this.random.pick(this.#webhooks)];
    for (const webhook of heard) {
      webhook.stalledUntilMs = this.agenda.nowMs + forMs;
      // A late answer tells each of them, within a round trip and its own stalls.
      this.agenda.after(forMs + this.random.between(0.2, 40), () => this.#tell(webhook));
    }
  }

  /** The controller: a list, the ledger equal to it, one eviction of the surplus type; until there is none. */
  repair(): void {
    for (let moves = 0; this.cluster.drift() !== 0; moves++) {
      if (moves > 200) throw new Error('repairs without end');
      this.ledger.merge(this.cluster.list(), this.ledger.markList());
      const surplus = this.cluster.drift() > 0 ? 'spot' : 'on-demand';
      const candidates = this.cluster.active().filter(({ type }) => type === surplus);
      const victim = candidates.toSorted((a, b) => a.cost - b.cost)[0];
      if (victim === undefined) throw new Error(`no ${surplus} pod to evict`);
      this.evictions++;
      this.cluster.delete(victim);
      this.settle();
    }
  }

  /** The controller: the ranks and costs of the policy. Returns how many pods it patched. */
  renumber(): number {
    const pods = this.cluster.active();
    const byName = new Map(pods.map((pod) => [pod.token, pod]));
    const members = pods.map(({ type, rank, cost, token, resourceVersion, createdAtMs }) => ({
      type,
      rank,
      cost,
      pod: { name: token, uid: token, resourceVersion, createdAtMs },
    }));
    const renumberings = renumberingsOf(this.cluster.policy, members);
    for (const { pod, rank, cost } of renumberings) {
      const renumbered = byName.get(pod.name);
      if (renumbered !== undefined) this.cluster.renumber(renumbered, rank, cost);
    }
    return renumberings.length;
  }

  /** What the ledger holds that no pod does, and the other way round, once everything was seen and listed. */
  strangers(): string[] {
    this.run(40_000);
    this.ledger.merge(this.cluster.list(), this.ledger.markList());
    const pods = new Set(this.cluster.active().map(({ token }) => token));
    const entries = new Set(this.ledger.tokens());
    return [
      ...[...entries].filter((token) => !pods.has(token)),
      ...[...pods].filter((token) => !entries.has(token)),
    ];
  }

  #observe(pod: SimulatedPod, kind: 'live' | 'gone'): void {
    for (let observer = 0; observer < 2; observer++) {
      const times = this.random.chance(0.15) ? 2 : 1;
      for (let i = 0; i < times; i++) {
        this.agenda.after(this.random.between(0, this.watchLagMs), () => {
          if (!this.observing) return;
          if (kind === 'live') this.ledger.seen(pod);
          else this.ledger.released(pod.token);
        });
      }
    }
  }

  #resync(): void {
    this.agenda.after(60_000, () => this.#resync());
    if (!this.observing) return;
    const mark = this.ledger.markList();
    this.#listAfter(this.random.between(1, 30), (list) => this.ledger.merge(list, mark));
  }

  #listAfter(delayMs: number, then: (list: PodList) => void): void {
    this.lists++;
    this.agenda.after(delayMs, () => {
      const list = this.cluster.list();
      this.agenda.after(this.random.between(1, 30), () => then(list));
    });
  }

  #admit(uid: string, answer: (admitted: Admitted) => void): void {
    const webhook = this.random.pick(this.#webhooks);
    this.agenda.after(this.random.between(0.5, 4), () => {
      this.#decide(webhook, uid, cachedKnowledge(this.cluster.replicaSetAgo(webhook.lagMs)), answer);
    });
    // The same review sent again, to any replica, at once or long after: its answer goes nowhere.
    if (this.random.chance(this.repeated)) {
      const again = this.random.pick(this.#webhooks);
      const delayMs = this.random.chance(0.5) ? 3 : this.random.between(500, 5_000);
      this.agenda.after(delayMs, () => this.#decide(again, uid, { kind: 'cached' }, () => undefined));
    }
  }

  #decide(webhook: Webhook, uid: string, knowledge: Knowledge, answer: (admitted: Admitted) => void): void {
    this.decisions++;
    if (this.agenda.nowMs < webhook.stalledUntilMs) {
      this.#missDeadline(webhook, uid, knowledge, answer);
      return;
    }
    this.#tell(webhook);
    const decision = this.#ask(webhook, uid, knowledge);
    switch (decision.kind) {
      case 'decided':
        webhook.counts = decision.counts;
        webhook.own.set(uid, decision);
        answer(decision);
        return;
      case 'need-replicaset':
        this.agenda.after(this.random.between(1, 5), () => {
          const replicas = this.cluster.replicaSet();
          this.agenda.after(this.random.between(0.5, 3), () =>
            this.#decide(webhook, uid, { kind: 'fresh', replicas }, answer),
          );
        });
        return;
      case 'need-list':
        this.#list(webhook, decision.mark, (replicas) =>
          this.#decide(webhook, uid, { kind: 'verified', replicas }, answer),
        );
    }
  }

  #ask(webhook: Webhook, uid: string, knowledge: Knowledge): Decision {
    const request = {
      revision,
      token: uid,
      policy: this.cluster.policy,
      allowed: 'both',
      knowledge,
    } as const;
    return this.ledger.decide(request, webhook.name, webhook.dirty);
  }

  /**
   * The first waits out the deadline, and its question is carried out at once, when the stall is over, or never; those
   * after it are told at once that nothing answers.
   */
  #missDeadline(
    webhook: Webhook,
    uid: string,
    knowledge: Knowledge,
    answer: (admitted: Admitted) => void,
  ): void {
    const asked = this.random.chance(0.3);
    if (asked && this.random.chance(0.8)) {
      const leftMs = webhook.stalledUntilMs - this.agenda.nowMs;
      const delayMs = this.random.pick([0, patienceMs, leftMs]) + this.random.between(0, 60);
      this.agenda.after(delayMs, () => this.#ask(webhook, uid, knowledge));
    }
    this.agenda.after(asked ? patienceMs : 0, () => {
      const earlier = webhook.own.get(uid);
      if (earlier !== undefined) {
        answer(earlier);
        return;
      }
      const { policy, replicas } = this.cluster;
      const { counts } = webhook;
      const decided = decideAlone(webhook.alone, {
        policy,
        counts,
        replicas,
        allowed: 'both',
        drought: false,
      });
      const { type, rank } = decided;
      webhook.alone = decided.state;
      webhook.counts =
        type === 'spot' ? { ...counts, spot: counts.spot + 1 } : { ...counts, onDemand: counts.onDemand + 1 };
      webhook.own.set(uid, { token: uid, type, rank });
      webhook.untold.push({ token: uid, type, rank, substitute: false });
      this.decidedAlone++;
      answer({ token: uid, type, rank });
      if (this.agenda.nowMs >= webhook.stalledUntilMs) this.#tell(webhook);
    });
  }

  #tell(webhook: Webhook): void {
    if (webhook.untold.length === 0) return;
    if (!this.ledger.announce(webhook.untold, webhook.name)) webhook.dirty.one(revision.replicaSetUid);
    webhook.untold = [];
  }

  /** One LIST at a time for all that ask before it begins. */
  #list(webhook: Webhook, mark: ListMark, then: (replicas: ReplicaCount) => void): void {
    const joined = webhook.listing;
    if (joined !== undefined && !joined.begun) {
      joined.mark = latestMark(joined.mark, mark);
      joined.waiting.push(then);
      return;
    }
    const listing: Listing = { begun: false, mark, waiting: [then] };
    webhook.listing = listing;
    this.lists++;
    this.agenda.after(this.random.between(1, 15), () => {
      listing.begun = true;
      this.agenda.after(this.random.between(1, 20), () => {
        const list = this.cluster.list();
        const replicas = this.cluster.replicaSet();
        this.agenda.after(this.random.between(1, 30), () => {
          this.ledger.merge(list, listing.mark);
          webhook.dirty.clean(revision.replicaSetUid, listing.mark.epoch);
          for (const waiting of listing.waiting) waiting(replicas);
        });
      });
    });
  }
}

function cachedKnowledge(replicas: ReplicaCount | undefined): Knowledge {
  return replicas === undefined ? { kind: 'cached' } : { kind: 'cached', replicas };
}
