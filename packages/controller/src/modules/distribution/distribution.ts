import type { EvictIntent, PodReference, RebalanceTrace } from '@spotalis/core';
import type { Component } from '@spotalis/runtime';
import type { Cluster } from '../../kernel/cluster/cluster.ts';
import { parseSubject } from '../../kernel/cluster/subject.ts';
import type { Confirmed } from '../../kernel/disruption/executor.ts';
import type { Applied, Intent, OpenModule, Outcome, Settled, Touch } from '../../kernel/module.ts';
import type { Attention } from './attention.ts';
import type { Ledgers } from './ledger/ledgers.ts';
import type { Reaches } from './ledger/reaches.ts';
import type { Effect, RebalanceDecision } from './moves/decision.ts';
import type { Reading, Rebalancer, RebalancerParts, Snapshot } from './moves/rebalancer.ts';
import type { Narrator } from './report/narrator.ts';
import type { Reports } from './report/reports.ts';
import { subjectsIn } from './triggers.ts';
import type { WebhookProbe } from './webhook/probe.ts';

/** While the ledger is out of reach its part of the report is missing. */
const AGAIN_MS = 5_000;

/** What begins with leading. Returns its way out. */
type Duty = () => () => void | Promise<void>;

export interface DistributionParts {
  readonly cluster: Cluster;
  readonly attention: Pick<Attention, 'follow'>;
  readonly reports: Reports;
  readonly policyOf: RebalancerParts['policyOf'];
  readonly ledgers: Pick<Ledgers, 'read' | 'verified'>;
  /** Undefined where nobody else could be told. */
  readonly reaches: Pick<Reaches, 'tell' | 'forget'> | undefined;
  readonly rebalancer: Pick<
    Rebalancer,
    | 'observe'
    | 'snapshot'
    | 'decide'
    | 'apply'
    | 'confirmed'
    | 'removed'
    | 'settled'
    | 'report'
    | 'follow'
    | 'forget'
  >;
  readonly probe: Pick<WebhookProbe, 'ask'>;
  readonly narrator: Pick<Narrator, 'drifting' | 'shown'>;
  readonly isReadOnly: () => boolean;
  readonly duties: readonly Duty[];
  readonly queue: NonNullable<OpenModule['queue']>;
  readonly components: readonly Component[];
  readonly notes: NonNullable<OpenModule['notes']>;
  /** For people, of what is not about one workload. */
  readonly known: () => object;
  readonly resyncPeriodMs: number;
  readonly random: () => number;
}

/** Keeps each workload split as its policy says. Its subjects are workloads, and Namespaces for what is written on them. */
export class Distribution implements OpenModule<Snapshot, RebalanceTrace, Effect> {
  readonly #parts: DistributionParts;
  /** By subject, while it is looked at. */
  readonly #readings = new Map<string, Reading>();
  /** Those that changed while an eviction was confirmed. */
  readonly #changed = new WeakSet<Reading>();

  readonly queue: DistributionParts['queue'];
  readonly components: DistributionParts['components'];
  readonly notes: DistributionParts['notes'];

  constructor(parts: DistributionParts) {
    this.#parts = parts;
    this.queue = parts.queue;
    this.components = parts.components;
    this.notes = parts.notes;
  }

  subjects(): Iterable<string> {
    return subjectsIn(this.#parts.cluster);
  }

  follow(touch: Touch): () => void {
    const { attention, narrator } = this.#parts;
    return attention.follow(touch, () => narrator.drifting());
  }

  read(subject: string, why: 'look' | 'grant'): Promise<void> {
    return why === 'look' ? this.#read(subject) : this.#readAgain(subject);
  }

  observe(subject: string): void {
    const reading = this.#readings.get(subject);
    if (reading !== undefined && !this.#changed.has(reading)) this.#parts.rebalancer.observe(reading);
  }

  snapshot(subject: string, nowMs: number): Snapshot | null {
    const reading = this.#readings.get(subject);
    if (reading === undefined || this.#changed.has(reading)) return null;
    return this.#parts.rebalancer.snapshot(reading, nowMs);
  }

  decide(snapshot: Snapshot, nowMs: number): RebalanceDecision {
    return this.#parts.rebalancer.decide(snapshot, nowMs);
  }

  /** A label may have been taken away since it was read. */
  mayActOn(subject: string): boolean {
    const { cluster, isReadOnly } = this.#parts;
    const reading = this.#readings.get(subject);
    return reading !== undefined && !isReadOnly() && cluster.isStillManaged(reading.workload);
  }

  apply(subject: string, effect: Effect, mayAct: () => boolean): Promise<Applied> {
    return this.#parts.rebalancer.apply(subject, this.#reading(subject), effect, mayAct);
  }

  confirmed(subject: string, _intent: EvictIntent, trace: RebalanceTrace): Omit<Confirmed, 'intent'> {
    return this.#parts.rebalancer.confirmed(this.#reading(subject), trace);
  }

  removed(subject: string, trace: RebalanceTrace, pod: PodReference): void {
    this.#parts.rebalancer.removed(this.#reading(subject), trace, pod);
  }

  settled(
    subject: string,
    decision: RebalanceDecision,
    _intent: Intent,
    outcome: Outcome,
  ): Settled<RebalanceTrace, Effect> {
    return this.#parts.rebalancer.settled(this.#reading(subject), decision, outcome);
  }

  report(subject: string, trace: RebalanceTrace, nowMs: number): number {
    const { rebalancer, resyncPeriodMs, random } = this.#parts;
    const reading = this.#reading(subject);
    this.#readings.delete(subject);
    const againInMs = rebalancer.report(subject, reading, trace, nowMs) ?? Number.POSITIVE_INFINITY;
    const periodMs =
      reading.ledger.kind === 'reachable' ? resyncPeriodMs : Math.min(AGAIN_MS, resyncPeriodMs);
    // Up to a tenth later, so that workloads found together are not looked at together for ever.
    return Math.min(againInMs, periodMs * (1 + random() / 10));
  }

  /** A move that is still under way goes on counting. */
  forget(subject: string): number | undefined {
    const parsed = parseSubject(subject);
    if (parsed === undefined || parsed.kind === 'Namespace') return undefined;
    const { cluster, rebalancer } = this.#parts;
    const now = cluster.workload(parsed.kind, parsed.key);
    const againInMs = now && rebalancer.follow(now.metadata.uid);
    this.#forget(subject, now?.metadata.uid);
    return againInMs;
  }

  async lead(): Promise<() => Promise<void>> {
    const leave = this.#parts.duties.map((begin) => begin());
    return async () => {
      await Promise.all(leave.map(async (end) => end()));
    };
  }

  state(): object {
    const { known, reports, narrator } = this.#parts;
    const shown = [...reports.reported].map(([subject, { report }]) => [
      subject,
      { ...report, rebalance: narrator.shown(subject) },
    ]);
    return { ...known(), workloads: Object.fromEntries(shown) };
  }

  async #read(subject: string): Promise<void> {
    const { cluster, reports, policyOf, ledgers, reaches } = this.#parts;
    this.#readings.delete(subject);
    const parsed = parseSubject(subject);
    if (parsed === undefined) return;
    if (parsed.kind === 'Namespace') {
      reports.lookAtNamespace(subject, parsed.key);
      return;
    }
    const workload = cluster.workload(parsed.kind, parsed.key);
    if (workload === undefined || !cluster.isManaged(workload)) return;
    const { uid } = workload.metadata;
    const known = reports.reported.get(subject)?.workload.metadata.uid;
    if (known !== undefined && known !== uid) this.#forget(subject, uid);
    const policy = policyOf(workload);
    const ledger = await ledgers.read(workload);
    reports.report(subject, workload, policy, ledger);
    await reaches?.tell(workload);
    this.#readings.set(subject, { workload, policy, ledger });
  }

  /** Whatever the stores, the policy and the ledger seemed to say is looked at anew right before a pod has to go. */
  async #readAgain(subject: string): Promise<void> {
    const { cluster, probe, ledgers, policyOf } = this.#parts;
    const reading = this.#reading(subject);
    const { uid } = reading.workload.metadata;
    await probe.ask();
    reading.ledger = await ledgers.verified(reading.workload);
    if (cluster.workloadByUid(uid) !== reading.workload || !cluster.isManaged(reading.workload)) {
      this.#changed.add(reading);
      return;
    }
    reading.policy = policyOf(reading.workload);
  }

  #forget(subject: string, uidNow: string | undefined): void {
    const { reports, reaches, rebalancer } = this.#parts;
    const workload = reports.forget(subject);
    if (workload === undefined) return;
    const { uid } = workload.metadata;
    reaches?.forget(uid);
    rebalancer.forget(subject, uid, uid !== uidNow);
  }

  #reading(subject: string): Reading {
    const reading = this.#readings.get(subject);
    if (reading === undefined) throw new Error(`${subject} is not being looked at`);
    return reading;
  }
}
