import {
  decide,
  type Move,
  type ObservedWorkload,
  type PolicyReading,
  type RebalanceTrace,
} from '@spotalis/core';
import type { Logger } from '@spotalis/runtime';
import type { AnnotationKind, Annotator } from '../act/annotator.ts';
import type { Evictor, Outcome } from '../act/evictor.ts';
import { sceneOf } from '../act/scene.ts';
import type { Bridger } from '../drought/bridger.ts';
import type { Bypass } from '../gate/bypass.ts';
import type { WebhookProbe } from '../gate/webhook.ts';
import { subjectOfWorkload } from '../lead/subject.ts';
import type { Placeholders } from '../placeholder/placeholders.ts';
import { tendProof } from '../placeholder/proof.ts';
import type { MoveMetrics } from '../report/metrics.ts';
import type { Narrator } from '../report/narrator.ts';
import type { Holds } from './holds.ts';
import { type LedgerReading, type SnapshotSources, takeSnapshot } from './snapshot.ts';

/** Something is about to be known: a replacement is seen, a store catches up. */
const SOON_MS = 500;
/** A ledger that differs is listed at most so often, beside the resync; and half as often each time that no LIST helps. */
const RELIST_MS = 10_000;
const LONGEST_RELIST_MS = 600_000;

export interface RebalancerParts {
  readonly sources: SnapshotSources;
  readonly evictor: Pick<Evictor, 'evict'>;
  readonly annotator: Pick<Annotator, 'want' | 'drop'>;
  readonly holds: Holds;
  readonly placeholders: Pick<Placeholders, 'want' | 'keep' | 'release' | 'forget'>;
  /** Undefined where the ledger is inside the webhook. */
  readonly bridger: Pick<Bridger, 'bridge'> | undefined;
  readonly bypass: Bypass;
  readonly probe: Pick<WebhookProbe, 'ask'>;
  readonly narrator: Narrator;
  readonly metrics: Pick<MoveMetrics, 'moved' | 'inFlight'>;
  readonly logger: Logger;
  readonly moveTimeoutMs: () => number;
  /** Makes the ledgers of a workload agree with a LIST, and then reads them. Never throws. */
  readonly relist: (workload: ObservedWorkload) => Promise<LedgerReading>;
  readonly policyOf: (workload: ObservedWorkload) => PolicyReading;
  /** Whether anything may be done about it at this moment. */
  readonly mayActOn: (workload: ObservedWorkload) => boolean;
  /** Wall clock: windows, and the ages of pods, are told by it. */
  readonly now: () => number;
}

/** One look at one workload: decide, do at most one thing, say so. */
export class Rebalancer {
  readonly #parts: RebalancerParts;
  /** By UID of the workload: when its ledgers were last listed because they differed, and when they may be again. */
  readonly #relists = new Map<string, { readonly nextAtMs: number; readonly periodMs: number }>();

  constructor(parts: RebalancerParts) {
    this.#parts = parts;
  }

  /** Returns the milliseconds after which to look again, if that is before the next resync. */
  async look(
    subject: string,
    workload: ObservedWorkload,
    policy: PolicyReading,
    ledger: LedgerReading,
  ): Promise<number | undefined> {
    const { now, narrator, sources, holds, placeholders, moveTimeoutMs } = this.#parts;
    const { uid } = workload.metadata;
    this.follow(uid, workload, policy.kind !== 'none' && !sources.settings().readOnly);
    const first = this.#decide(workload, policy, ledger);
    const { trace, againInMs } = await this.#carryOut(workload, ledger, first);
    tendProof({ placeholders, flights: sources.flights, cluster: sources.cluster }, workload, trace);
    const nowMs = now();
    const act = heldActs[trace.verdict.kind];
    const hold = act && holds.of(uid, nowMs, act);
    const tellAgainMs = narrator.tell(subject, workload, trace, hold, nowMs);
    const due = [
      againInMs,
      tellAgainMs,
      inMs(hold?.untilMs, nowMs),
      trace.verdict.kind === 'wait' ? inMs(trace.verdict.untilMs, nowMs) : undefined,
      inMs(sources.flights.nextLookMs(uid, moveTimeoutMs()), nowMs),
    ].filter((ms) => ms !== undefined);
    return due.length === 0 ? undefined : Math.min(...due);
  }

  /**
   * Ends the move of a workload when its replacement is there; also of one that is not ours any more, or is gone. Where
   * admission leaves its pods alone (`isSteered`), they say nothing about the webhook. Returns the milliseconds after
   * which to look again, if it goes on.
   */
  follow(
    workloadUid: string,
    workload: ObservedWorkload | undefined,
    isSteered: boolean,
  ): number | undefined {
    const { sources, bypass, metrics, moveTimeoutMs, now, logger } = this.#parts;
    if (!sources.flights.has(workloadUid)) return undefined;
    const nowMs = now();
    const limits = { moveTimeoutMs: moveTimeoutMs(), nowMs };
    const landed = sources.flights.follow(
      workloadUid,
      sceneOf(sources.cluster, workload),
      limits,
      (steered) => {
        if (!isSteered || !bypass.arrived(steered, nowMs)) return;
        if (steered) logger.info('admissions go through the webhook again');
        else logger.error('pods are created past the webhook; no more moves but one trial every 10 minutes');
      },
    );
    metrics.inFlight(sources.flights.count);
    if (landed === undefined) {
      return inMs(sources.flights.nextLookMs(workloadUid, limits.moveTimeoutMs), nowMs);
    }
    const { result, move, lastedMs } = landed;
    if (move === undefined) return undefined;
    metrics.moved(move.from, move.to, result);
    logger[result === 'succeeded' || result === 'superseded' ? 'info' : 'warn']('move ended', {
      workloadUid,
      pod: move.pod.name,
      from: move.from,
      to: move.to,
      result,
      lastedMs: Math.round(lastedMs),
    });
    return undefined;
  }

  /** The workload is not ours any more, or gone. */
  forget(subject: string, workloadUid: string, isGone: boolean): void {
    const { narrator, sources, holds, placeholders, annotator } = this.#parts;
    narrator.forget(subject);
    annotator.drop(subject);
    holds.forget(workloadUid);
    placeholders.forget(workloadUid);
    sources.changes.forget(workloadUid);
    sources.droughts?.forget(workloadUid, this.#parts.now());
    this.#relists.delete(workloadUid);
    if (!isGone) return;
    this.follow(workloadUid, undefined, false);
    sources.flights.forget(workloadUid);
  }

  #decide(workload: ObservedWorkload, policy: PolicyReading, ledger: LedgerReading): RebalanceTrace {
    const nowMs = this.#parts.now();
    return decide(takeSnapshot(this.#parts.sources, workload, policy, ledger, nowMs), nowMs);
  }

  async #carryOut(
    workload: ObservedWorkload,
    ledger: LedgerReading,
    trace: RebalanceTrace,
  ): Promise<{ readonly trace: RebalanceTrace; readonly againInMs?: number | undefined }> {
    const { verdict } = trace;
    if (verdict.kind !== 'correct' && verdict.kind !== 'renumber') {
      this.#parts.annotator.drop(subjectOfWorkload(workload));
    }
    switch (verdict.kind) {
      case 'nothing':
      case 'wait':
      case 'prove':
        return trace.reason === 'LedgerDiffers' ? this.#relist(workload, trace) : { trace };
      case 'correct':
        return { trace, againInMs: this.#annotate(workload, 'correct', verdict.corrections) };
      case 'renumber':
        return { trace, againInMs: this.#annotate(workload, 'renumber', verdict.renumberings) };
      case 'move':
        return this.#move(workload, trace);
      case 'bridge':
        return { trace, againInMs: await this.#parts.bridger?.bridge(workload, trace, verdict, ledger) };
      default:
        return verdict satisfies never;
    }
  }

  /** A LIST tells which of the two is right; if it is the pods, the ledger is right afterwards. */
  async #relist(
    workload: ObservedWorkload,
    differing: RebalanceTrace,
  ): Promise<{ readonly trace: RebalanceTrace; readonly againInMs?: number | undefined }> {
    const { uid } = workload.metadata;
    const nowMs = this.#parts.now();
    const last = this.#relists.get(uid);
    const leftMs = (last?.nextAtMs ?? 0) - nowMs;
    if (leftMs > 0) return { trace: differing, againInMs: leftMs };
    const periodMs = last?.periodMs ?? RELIST_MS;
    this.#relists.set(uid, { nextAtMs: nowMs + periodMs, periodMs });
    const ledger = await this.#parts.relist(workload);
    const trace = this.#decide(workload, this.#parts.policyOf(workload), ledger);
    const helped = trace.reason !== 'LedgerDiffers';
    const nextPeriodMs = helped ? RELIST_MS : Math.min(LONGEST_RELIST_MS, periodMs * 2);
    this.#relists.set(uid, { nextAtMs: nowMs + periodMs, periodMs: nextPeriodMs });
    return trace.verdict.kind === 'move' ? this.#move(workload, trace) : { trace, againInMs: periodMs };
  }

  /** Returns the milliseconds after which to ask again, where the API server has refused it. */
  #annotate(
    workload: ObservedWorkload,
    kind: AnnotationKind,
    changes: Parameters<Annotator['want']>[2],
  ): number | undefined {
    const { annotator, holds, now } = this.#parts;
    const hold = holds.of(workload.metadata.uid, now(), 'annotate');
    if (hold !== undefined) {
      annotator.drop(subjectOfWorkload(workload));
      return hold.untilMs - now();
    }
    annotator.want(workload, kind, changes);
    return undefined;
  }

  /** Whatever the stores, the policy and the ledger seemed to say is looked at anew right before a pod has to go. */
  async #move(
    workload: ObservedWorkload,
    seemingly: RebalanceTrace,
  ): Promise<{ readonly trace: RebalanceTrace; readonly againInMs?: number | undefined }> {
    const { sources, holds, bypass, probe, relist, policyOf, mayActOn, narrator, evictor, now } = this.#parts;
    const { uid, namespace = '' } = workload.metadata;
    if (holds.of(uid, now()) !== undefined) return { trace: seemingly };
    if (!bypass.allows(sources.flights.unproven(now()))) return { trace: seemingly, againInMs: SOON_MS };
    await probe.ask();
    const ledger = await relist(workload);
    const current = sources.cluster.workload(workload.workloadKind, `${namespace}/${workload.metadata.name}`);
    // It is looked at again because it changed.
    if (current !== workload || !sources.cluster.isManaged(current)) {
      return { trace: seemingly, againInMs: SOON_MS };
    }
    const trace = this.#decide(current, policyOf(current), ledger);
    if (trace.verdict.kind !== 'move') return { trace, againInMs: isAtRest(trace) ? undefined : SOON_MS };
    // From here to the departure nothing waits, so that two workers cannot spend one budget.
    if (!bypass.allows(sources.flights.unproven(now()))) return { trace, againInMs: SOON_MS };
    if (!mayActOn(workload)) return { trace };
    const { move } = trace.verdict;
    this.#depart(workload, move);
    const outcome = await evictor.evict(namespace, move.pod);
    if (this.#settle(workload, move, outcome)) narrator.moved(workload, trace);
    return { trace, againInMs: outcome.kind === 'stale' ? SOON_MS : undefined };
  }

  #depart(workload: ObservedWorkload, move: Move): void {
    const { sources, bypass, now, metrics } = this.#parts;
    const { cluster, flights } = sources;
    const { uid, namespace = '' } = workload.metadata;
    const { pod, from, to, node, evidence } = move;
    const nowMs = now();
    if (move.trial) bypass.tried(nowMs);
    flights.begin(
      {
        workloadUid: uid,
        namespace,
        pod,
        from,
        to,
        node,
        evidence,
        requests: cluster.pods.get(`${namespace}/${pod.name}`)?.requests ?? {},
        present: cluster.podsOf(workload).map(({ metadata }) => metadata.uid),
      },
      nowMs,
    );
    metrics.inFlight(flights.count);
  }

  /** Returns whether the pod goes, by us. */
  #settle(workload: ObservedWorkload, move: Move, outcome: Outcome): boolean {
    const { sources, holds, logger, now, metrics } = this.#parts;
    const { uid } = workload.metadata;
    switch (outcome.kind) {
      case 'evicted':
      case 'gone':
        sources.flights.sent(uid, 'taken');
        holds.lift(uid);
        return outcome.kind === 'evicted';
      case 'stale':
      case 'fenced':
        break;
      case 'error':
        // It may have been carried out: it counts until the pod shows.
        sources.flights.sent(uid, 'unknown');
        holds.refused(uid, outcome, move.pdb !== null, now());
        logger.warn('eviction without an answer', { pod: move.pod.name, error: outcome.error });
        return false;
      case 'unread':
        holds.refused(uid, outcome, move.pdb !== null, now());
        logger.warn('eviction not sent', { pod: move.pod.name, error: outcome.error });
        break;
      case 'blocked':
      case 'conflict':
      case 'tooManyBudgets':
      case 'forbidden': {
        const { reason, message } = holds.refused(uid, outcome, move.pdb !== null, now());
        logger.debug('eviction refused', { pod: move.pod.name, reason, message });
      }
    }
    sources.flights.cancel(uid);
    metrics.inFlight(sources.flights.count);
    return false;
  }
}

/** What the API server may have refused when a decision was carried out. */
const heldActs: Readonly<Partial<Record<RebalanceTrace['verdict']['kind'], 'evict' | 'annotate'>>> = {
  move: 'evict',
  correct: 'annotate',
  renumber: 'annotate',
};

/** Nothing is to be done, or not before something changes. */
const isAtRest = ({ verdict, reason }: RebalanceTrace): boolean =>
  (verdict.kind === 'nothing' || verdict.kind === 'wait') && reason !== 'LedgerDiffers';

const inMs = (untilMs: number | undefined, nowMs: number): number | undefined =>
  untilMs === undefined ? undefined : Math.max(0, untilMs - nowMs);
