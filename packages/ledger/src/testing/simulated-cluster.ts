import { type CapacityType, deletionCost, drift, type PodCounts, type PolicyNumbers } from '@spotalis/core';
import type { LedgerPod, PodList, ReplicaCount } from '../ledger.ts';
import type { Agenda } from './agenda.ts';
import type { Random } from './random.ts';

export interface SimulatedPod extends LedgerPod {
  readonly type: CapacityType | null;
  rank: number;
  cost: number;
  resourceVersion: string;
  readonly createdAtMs: number;
  /** From when, and until when, the ReplicaSet controller counts it: its own cache is late too. */
  readonly countedFromMs: number;
  countedUntilMs: number;
  ready: boolean;
  deleted: boolean;
}

export interface Admitted {
  readonly token: string | undefined;
  readonly type: CapacityType;
  readonly rank: number;
}

export interface ClusterHooks {
  /** Asked for each creation; the answer may come at any time. */
  admit(uid: string, answer: (admitted: Admitted) => void): void;
  /** A watch event, for every observer to hear when its lag lets it. */
  event(pod: SimulatedPod, kind: 'live' | 'gone'): void;
}

/**
 * One ReplicaSet under the API server and the ReplicaSet controller as they really behave: slow-start batches,
 * expectations, caches that are late, deletion by readiness and then by cost.
 */
export class SimulatedCluster {
  policy: PolicyNumbers;
  /** More pods than this are rejected after admission, as a quota does. */
  quota = Number.POSITIVE_INFINITY;
  /** The share of creations that another webhook rejects after ours has decided, or that bypass ours. */
  rejected = 0;
  bypassed = 0;
  /** The share of pods that bypass ours and come up on a node without a recognised label. */
  unrecognised = 0;
  rejections = 0;
  readonly #agenda: Agenda;
  readonly #random: Random;
  readonly #hooks: ClusterHooks;
  readonly #pods: SimulatedPod[] = [];
  #version = 1_000;
  #replicas = 0;
  readonly #history: { atMs: number; count: ReplicaCount }[] = [];
  readonly #expected = new Set<SimulatedPod>();
  #busy = false;
  #kicked = false;
  #backOffMs = 0;
  #calls = 0;
  #changedAtMs = 0;

  constructor(agenda: Agenda, random: Random, policy: PolicyNumbers, hooks: ClusterHooks) {
    this.#agenda = agenda;
    this.#random = random;
    this.policy = policy;
    this.#hooks = hooks;
  }

  get replicas(): number {
    return this.#replicas;
  }

  scale(replicas: number): void {
    this.#replicas = replicas;
    this.#changed();
    this.#history.push({ atMs: this.#agenda.nowMs, count: this.replicaSet() });
    this.#kick();
  }

  /** A quorum GET. */
  replicaSet(): ReplicaCount {
    return { replicas: this.#replicas, resourceVersion: String(this.#version) };
  }

  /** What a process whose knowledge is so old has. */
  replicaSetAgo(lagMs: number): ReplicaCount | undefined {
    return this.#history.findLast(({ atMs }) => atMs <= this.#agenda.nowMs - lagMs)?.count;
  }

  /** A quorum LIST. */
  list(): PodList {
    return { resourceVersion: String(this.#version), pods: this.active().map((pod) => ({ ...pod })) };
  }

  active(): SimulatedPod[] {
    return this.#pods.filter(({ deleted }) => !deleted);
  }

  counts(): Required<PodCounts> {
    const types = this.active().map(({ type }) => type);
    const spot = types.filter((type) => type === 'spot').length;
    const untyped = types.filter((type) => type === null).length;
    return { spot, onDemand: types.length - spot - untyped, untyped };
  }

  /** Spot pods too many or too few. */
  drift(): number {
    const { spot, onDemand, untyped } = this.counts();
    return drift(this.policy, { spot, onDemand: onDemand + untyped });
  }

  settled(): boolean {
    const active = this.active();
    const quiet = this.#agenda.nowMs - this.#changedAtMs > 3_000;
    return quiet && !this.#busy && active.length === this.#replicas && active.every(({ ready }) => ready);
  }

  /** A patch of its annotations. */
  renumber(pod: SimulatedPod, rank: number, cost: number): void {
    this.#changed();
    Object.assign(pod, { rank, cost, resourceVersion: String(this.#version) });
    this.#hooks.event({ ...pod }, 'live');
  }

  delete(pod: SimulatedPod): void {
    if (pod.deleted) return;
    pod.deleted = true;
    pod.countedUntilMs = this.#agenda.nowMs + this.#random.between(2, 100);
    this.#changed();
    this.#expected.add(pod);
    this.#agenda.after(pod.countedUntilMs - this.#agenda.nowMs, () => {
      this.#expected.delete(pod);
      this.#kick();
    });
    this.#hooks.event({ ...pod }, 'gone');
  }

  /** Obstacles gone, and no back-off left to wait for. */
  heal(): void {
    this.quota = Number.POSITIVE_INFINITY;
    this.rejected = 0;
    this.bypassed = 0;
    this.#backOffMs = 0;
    this.#kick();
  }

  #changed(): void {
    this.#version++;
    this.#changedAtMs = this.#agenda.nowMs;
  }

  #kick(delayMs = this.#random.between(5, 50)): void {
    if (this.#kicked) return;
    this.#kicked = true;
    this.#agenda.after(delayMs, () => {
      this.#kicked = false;
      this.#sync();
    });
  }

  #sync(): void {
    if (this.#busy || this.#expected.size > 0) return;
    const { nowMs } = this.#agenda;
    const counted = this.#pods.filter(
      ({ countedFromMs, countedUntilMs }) => countedFromMs <= nowMs && nowMs < countedUntilMs,
    );
    const missing = this.#replicas - counted.length;
    if (missing > 0) this.#createBatch(missing, 1);
    if (missing < 0) {
      const order = counted.toSorted(
        (a, b) => Number(a.ready) - Number(b.ready) || a.cost - b.cost || b.createdAtMs - a.createdAtMs,
      );
      for (const pod of order.slice(0, -missing)) {
        this.#expected.add(pod);
        this.#agenda.after(this.#random.between(1, 30), () => {
          if (pod.deleted) this.#expected.delete(pod);
          else this.delete(pod);
        });
      }
    }
  }

  /** Twice as many after each batch that went well; a failure ends it until the next attempt. */
  #createBatch(remaining: number, size: number): void {
    this.#busy = true;
    const batch = Math.min(size, remaining);
    let [done, failed] = [0, 0];
    for (let i = 0; i < batch; i++) {
      this.#create((created) => {
        done++;
        if (!created) failed++;
        if (done < batch) return;
        if (failed > 0) {
          this.#busy = false;
          this.#backOffMs = Math.min(10_000, Math.max(10, this.#backOffMs * 2));
          this.#kick(this.#backOffMs);
        } else if (remaining > batch) this.#createBatch(remaining - batch, size * 2);
        else {
          this.#busy = false;
          this.#backOffMs = 0;
          this.#kick();
        }
      });
    }
  }

  #create(created: (ok: boolean) => void): void {
    const uid = `call-${this.#calls++}`;
    this.#agenda.after(this.#random.between(1, 10), () => {
      if (this.#random.chance(this.bypassed)) {
        const type = this.#random.chance(this.unrecognised) ? null : 'on-demand';
        this.#persist(uid, { token: undefined, type, rank: 0 });
        created(true);
        return;
      }
      this.#hooks.admit(uid, (admitted) => {
        this.#agenda.after(this.#random.between(1, 30), () => {
          if (this.#random.chance(this.rejected) || this.active().length >= this.quota) {
            this.rejections++;
            created(false);
            return;
          }
          this.#persist(uid, admitted);
          created(true);
        });
      });
    });
  }

  #persist(uid: string, { token, type, rank }: Omit<Admitted, 'type'> & Pick<SimulatedPod, 'type'>): void {
    this.#changed();
    const { nowMs } = this.#agenda;
    const pod: SimulatedPod = {
      token: token ?? `pod-of-${uid}`,
      type,
      rank,
      cost: token === undefined || type === null ? 0 : deletionCost(this.policy, type, rank),
      resourceVersion: String(this.#version),
      createdAtMs: nowMs,
      countedFromMs: nowMs + this.#random.between(2, 100),
      countedUntilMs: Number.POSITIVE_INFINITY,
      ready: false,
      deleted: false,
    };
    this.#pods.push(pod);
    this.#expected.add(pod);
    this.#agenda.after(pod.countedFromMs - nowMs, () => {
      this.#expected.delete(pod);
      this.#kick();
    });
    this.#agenda.after(this.#random.between(100, 8_000), () => {
      pod.ready = true;
    });
    this.#hooks.event({ ...pod }, 'live');
  }
}
