import {
  decide,
  type Deferral,
  deferred,
  type ObservedWorkload,
  type PodReference,
  type PolicyReading,
  type RebalanceSnapshot,
  type RebalanceTrace,
  restsOnDefaults,
} from '@spotalis/core';
import type { Confirmed, Executor } from '../../../kernel/disruption/executor.ts';
import type { Holds } from '../../../kernel/disruption/holds.ts';
import type { Applied, Outcome, Settled } from '../../../kernel/module.ts';
import type { Placeholders } from '../../../kernel/proof/placeholders.ts';
import type { Annotator } from '../annotate/annotator.ts';
import type { RefusedAnnotations } from '../annotate/refused.ts';
import type { Bridger } from '../droughts/bridger.ts';
import { tendProof } from '../proof.ts';
import type { Narrator } from '../report/narrator.ts';
import { carriedOut, decisionOf, type Effect, type RebalanceDecision } from './decision.ts';
import type { Moves } from './moves.ts';
import { type LedgerReading, observe, type SnapshotSources, takeSnapshot } from './snapshot.ts';

/** Something is about to be known: a replacement is seen, a store catches up. */
const SOON_MS = 500;
/** A ledger that differs is listed at most so often, beside the resync; and half as often each time that no LIST helps. */
const RELIST_MS = 10_000;
const LONGEST_RELIST_MS = 600_000;

/** What one look at a workload has read. */
export interface Reading {
  readonly workload: ObservedWorkload;
  policy: PolicyReading;
  ledger: LedgerReading;
}

/** Everything that one decision rests on. */
export interface Snapshot {
  readonly workload: ObservedWorkload;
  readonly of: RebalanceSnapshot;
}

export interface RebalancerParts {
  readonly sources: SnapshotSources;
  readonly executor: Pick<Executor, 'follow'>;
  readonly annotator: Pick<Annotator, 'want' | 'drop'>;
  readonly holds: Pick<Holds, 'lift'>;
  readonly refusedAnnotations: Pick<RefusedAnnotations, 'forget'>;
  readonly moves: Pick<Moves, 'hooksOf' | 'of' | 'forget'>;
  readonly placeholders: Pick<Placeholders, 'want' | 'keep' | 'release' | 'forget'>;
  /** Undefined where the ledger is inside the webhook. */
  readonly bridger: Pick<Bridger, 'bridge' | 'removed'> | undefined;
  readonly narrator: Narrator;
  readonly moveTimeoutMs: () => number;
  /** Makes the ledgers of a workload agree with a LIST, and then reads them. Never throws. */
  readonly relist: (workload: ObservedWorkload) => Promise<LedgerReading>;
  readonly policyOf: (workload: ObservedWorkload) => PolicyReading;
  /** Wall clock: windows, and the ages of pods, are told by it. */
  readonly now: () => number;
}

/** What is decided about a workload, and what becomes of it. */
export class Rebalancer {
  readonly #parts: RebalancerParts;
  /** By UID of the workload: when its ledgers were last listed because they differed, and when they may be again. */
  readonly #relists = new Map<string, { readonly nextAtMs: number; readonly periodMs: number }>();

  constructor(parts: RebalancerParts) {
    this.#parts = parts;
  }

  /** What a look changes in what is known, before anything is decided. */
  observe({ workload, policy, ledger }: Reading): void {
    this.follow(workload.metadata.uid);
    observe(this.#parts.sources, workload, policy, ledger, this.#parts.now());
  }

  snapshot({ workload, policy, ledger }: Reading, nowMs: number, deferral: Deferral | null = null): Snapshot {
    return { workload, of: takeSnapshot(this.#parts.sources, workload, policy, ledger, nowMs, deferral) };
  }

  decide({ workload, of }: Snapshot, nowMs: number): RebalanceDecision {
    return decisionOf(decide(of, nowMs), workload, nowMs);
  }

  async apply(subject: string, reading: Reading, effect: Effect, mayAct: () => boolean): Promise<Applied> {
    const { annotator, bridger } = this.#parts;
    switch (effect.kind) {
      case 'annotate':
        if (effect.changes.length === 0) annotator.drop(subject);
        else annotator.want(reading.workload, effect.as, effect.changes);
        return {};
      case 'relist':
        return this.#relist(reading);
      case 'bridge':
        return bridger?.bridge(reading, effect, mayAct) ?? { isHeld: true };
      default:
        return effect satisfies never;
    }
  }

  confirmed({ workload, policy }: Reading, trace: RebalanceTrace): Omit<Confirmed, 'intent'> {
    const { sources, moves } = this.#parts;
    const { cluster } = sources;
    const { verdict } = trace;
    if (verdict.kind !== 'move') return { room: null, hasPdb: false, hooks: {} };
    const { uid, namespace = '' } = workload.metadata;
    const { pod, from, to, evidence, pdb, trial } = verdict.move;
    return {
      room: { node: evidence, requests: cluster.pods.get(`${namespace}/${pod.name}`)?.requests ?? {} },
      hasPdb: pdb !== null,
      hooks: moves.hooksOf({
        workloadUid: uid,
        pod: pod.name,
        from,
        to,
        present: cluster.podsOf(workload).map(({ metadata }) => metadata.uid),
        trial,
        restsOnDefaults: restsOnDefaults(policy),
      }),
    };
  }

  /** A pod that waited for spot capacity in vain is gone. */
  removed({ workload }: Reading, { verdict }: RebalanceTrace, { uid }: PodReference): void {
    const pod = verdict.kind === 'bridge' ? verdict.remove.find((one) => one.uid === uid) : undefined;
    if (pod !== undefined) this.#parts.bridger?.removed(workload, pod);
  }

  settled(reading: Reading, decision: RebalanceDecision, outcome: Outcome): Settled<RebalanceTrace, Effect> {
    const { narrator } = this.#parts;
    const { trace } = decision;
    switch (outcome.kind) {
      case 'deferred':
        return { decision: this.#deferred(reading, trace, outcome.deferral) };
      case 'removed':
        return this.#removed(reading, trace, outcome);
      case 'cancelled':
        return isAtRest(trace) ? { decision } : { decision, againInMs: SOON_MS };
      case 'overtaken':
        return { decision: this.#decide(reading) };
      case 'sent':
        break;
      default:
        return outcome satisfies never;
    }
    switch (outcome.outcome.kind) {
      case 'evicted':
        narrator.moved(reading.workload, trace);
        return { decision };
      case 'gone':
      case 'fenced':
        return { decision };
      case 'stale':
        return { decision, againInMs: SOON_MS };
      case 'blocked':
      case 'conflict':
      case 'tooManyBudgets':
      case 'forbidden':
      case 'unread':
      case 'error':
        // What holds the move now is the reason of this look already.
        return { decision: this.#decide(reading) };
      default:
        return outcome.outcome satisfies never;
    }
  }

  /** Returns the milliseconds after which to look again, if that is before the next resync. */
  report(subject: string, { workload }: Reading, trace: RebalanceTrace, nowMs: number): number | undefined {
    const { narrator, sources, placeholders, moves, moveTimeoutMs } = this.#parts;
    tendProof({ placeholders, moves, cluster: sources.cluster }, workload, trace);
    const due = [
      narrator.tell(subject, workload, trace, nowMs),
      inMs(sources.register.nextLookMs(workload.metadata.uid, moveTimeoutMs()), nowMs),
    ].filter((ms) => ms !== undefined);
    return due.length === 0 ? undefined : Math.min(...due);
  }

  /**
   * Ends the move of a workload when its replacement is there; also of one that is not ours any more, or is gone.
   * Returns the milliseconds after which to look again, if it goes on.
   */
  follow(workloadUid: string): number | undefined {
    const { executor, now } = this.#parts;
    return inMs(executor.follow(workloadUid), now());
  }

  /** The workload is not ours any more, or gone. */
  forget(subject: string, workloadUid: string, isGone: boolean): void {
    const { narrator, sources, holds, refusedAnnotations, placeholders, annotator, moves } = this.#parts;
    narrator.forget(subject);
    annotator.drop(subject);
    holds.lift(workloadUid);
    refusedAnnotations.forget(workloadUid);
    placeholders.forget(workloadUid);
    sources.changes.forget(workloadUid);
    sources.droughts?.forget(workloadUid, this.#parts.now());
    this.#relists.delete(workloadUid);
    if (!isGone) return;
    this.follow(workloadUid);
    moves.forget(workloadUid);
  }

  #decide(reading: Reading, deferral: Deferral | null = null): RebalanceDecision {
    const nowMs = this.#parts.now();
    return this.decide(this.snapshot(reading, nowMs, deferral), nowMs);
  }

  #deferred({ workload }: Reading, trace: RebalanceTrace, deferral: Parameters<typeof deferred>[1]) {
    const nowMs = this.#parts.now();
    return decisionOf(deferred(trace, deferral, nowMs), workload, nowMs);
  }

  /** Where no pod may be removed now, something else may be done meanwhile. */
  #removed(
    reading: Reading,
    trace: RebalanceTrace,
    { count, deferral }: Extract<Outcome, { kind: 'removed' }>,
  ): Settled<RebalanceTrace, Effect> {
    const wroteNothing = trace.verdict.kind === 'bridge' && trace.verdict.next === null;
    if (wroteNothing && count === 0 && deferral !== null) {
      const instead = this.#decide(reading, deferral);
      const isSame = instead.trace.verdict.kind === 'bridge';
      return { decision: isSame ? this.#deferred(reading, trace, deferral) : instead };
    }
    const told =
      trace.reason === 'StuckRemoved' ? { ...trace, facts: { ...trace.facts, removed: count } } : trace;
    return { decision: carriedOut(told), againInMs: SOON_MS };
  }

  /** A LIST tells which of the two is right; if it is the pods, the ledger is right afterwards. */
  async #relist(reading: Reading): Promise<Applied> {
    const { relist, policyOf, now } = this.#parts;
    const { workload } = reading;
    const { uid } = workload.metadata;
    const nowMs = now();
    const last = this.#relists.get(uid);
    const leftMs = (last?.nextAtMs ?? 0) - nowMs;
    if (leftMs > 0) return { againInMs: leftMs };
    const periodMs = last?.periodMs ?? RELIST_MS;
    this.#relists.set(uid, { nextAtMs: nowMs + periodMs, periodMs });
    reading.ledger = await relist(workload);
    reading.policy = policyOf(workload);
    this.observe(reading);
    const helped = this.#decide(reading).trace.reason !== 'LedgerDiffers';
    const nextPeriodMs = helped ? RELIST_MS : Math.min(LONGEST_RELIST_MS, periodMs * 2);
    this.#relists.set(uid, { nextAtMs: nowMs + periodMs, periodMs: nextPeriodMs });
    return { decideAgain: true, againInMs: periodMs };
  }
}

/** Nothing is to be done, or not before something changes. */
const isAtRest = ({ verdict, reason }: RebalanceTrace): boolean =>
  (verdict.kind === 'nothing' || verdict.kind === 'wait') && reason !== 'LedgerDiffers';

const inMs = (untilMs: number | undefined, nowMs: number): number | undefined =>
  untilMs === undefined ? undefined : Math.max(0, untilMs - nowMs);
