import {
  decide,
  type Deferral,
  deferred,
  type EvictIntent,
  evictionFor,
  type ObservedWorkload,
  type PolicyReading,
  type RebalanceTrace,
  restsOnDefaults,
  type Verdict,
} from '@spotalis/core';
import type { Annotator } from '../annotate/annotator.ts';
import type { Bridger } from '../drought/bridger.ts';
import type { Confirmed, Executor } from '../../../kernel/disruption/executor.ts';
import type { WebhookProbe } from '../webhook/probe.ts';
import { askerOf, subjectOfWorkload } from '../../../kernel/cluster/subject.ts';
import type { Placeholders } from '../../../kernel/proof/placeholders.ts';
import { tendProof } from '../proof.ts';
import type { Narrator } from '../report/narrator.ts';
import type { Holds } from '../../../kernel/disruption/holds.ts';
import type { RefusedAnnotations } from '../annotate/refused.ts';
import type { Moves } from './moves.ts';
import { type LedgerReading, observe, type SnapshotSources, takeSnapshot } from './snapshot.ts';

/** Something is about to be known: a replacement is seen, a store catches up. */
const SOON_MS = 500;
/** A ledger that differs is listed at most so often, beside the resync; and half as often each time that no LIST helps. */
const RELIST_MS = 10_000;
const LONGEST_RELIST_MS = 600_000;

export interface RebalancerParts {
  readonly sources: SnapshotSources;
  readonly executor: Executor;
  readonly annotator: Pick<Annotator, 'want' | 'drop'>;
  readonly holds: Pick<Holds, 'lift'>;
  readonly refusedAnnotations: Pick<RefusedAnnotations, 'forget'>;
  readonly moves: Pick<Moves, 'hooksOf' | 'of' | 'forget'>;
  readonly placeholders: Pick<Placeholders, 'want' | 'keep' | 'release' | 'forget'>;
  /** Undefined where the ledger is inside the webhook. */
  readonly bridger: Pick<Bridger, 'bridge'> | undefined;
  readonly probe: Pick<WebhookProbe, 'ask'>;
  readonly narrator: Narrator;
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
    const { now, narrator, sources, placeholders, executor, moves, moveTimeoutMs } = this.#parts;
    const { uid } = workload.metadata;
    this.follow(uid);
    const first = this.#observeAndDecide(workload, policy, ledger);
    if (!asks(first)) executor.withdraw(askerOf(subject), uid);
    const { trace, againInMs } = await this.#carryOut(workload, ledger, first);
    tendProof({ placeholders, moves, cluster: sources.cluster }, workload, trace);
    const nowMs = now();
    const tellAgainMs = narrator.tell(subject, workload, trace, nowMs);
    const due = [
      againInMs,
      tellAgainMs,
      trace.verdict.kind === 'wait' ? inMs(trace.verdict.untilMs, nowMs) : undefined,
      inMs(sources.register.nextLookMs(uid, moveTimeoutMs()), nowMs),
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
    const { narrator, sources, holds, refusedAnnotations, placeholders, executor, annotator, moves } =
      this.#parts;
    narrator.forget(subject);
    executor.withdraw(askerOf(subject), workloadUid);
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

  #observeAndDecide(
    workload: ObservedWorkload,
    policy: PolicyReading,
    ledger: LedgerReading,
  ): RebalanceTrace {
    observe(this.#parts.sources, workload, policy, ledger, this.#parts.now());
    return this.#decide(workload, policy, ledger);
  }

  #decide(
    workload: ObservedWorkload,
    policy: PolicyReading,
    ledger: LedgerReading,
    deferral: Deferral | null = null,
  ): RebalanceTrace {
    const nowMs = this.#parts.now();
    return decide(takeSnapshot(this.#parts.sources, workload, policy, ledger, nowMs, deferral), nowMs);
  }

  async #carryOut(
    workload: ObservedWorkload,
    ledger: LedgerReading,
    trace: RebalanceTrace,
  ): Promise<{ readonly trace: RebalanceTrace; readonly againInMs?: number | undefined }> {
    const { verdict } = trace;
    const { annotator } = this.#parts;
    if (verdict.kind !== 'correct' && verdict.kind !== 'renumber')
      annotator.drop(subjectOfWorkload(workload));
    switch (verdict.kind) {
      case 'nothing':
      case 'wait':
      case 'prove':
        return trace.reason === 'LedgerDiffers' ? this.#relist(workload, trace) : { trace };
      case 'correct':
        annotator.want(workload, 'correct', verdict.corrections);
        return { trace };
      case 'renumber':
        annotator.want(workload, 'renumber', verdict.renumberings);
        return { trace };
      case 'move':
        return isMove(trace) ? this.#move(workload, ledger, trace) : { trace };
      case 'bridge':
        return this.#bridge(workload, ledger, trace, verdict);
      default:
        return verdict satisfies never;
    }
  }

  /** Where no pod may be removed now, something else may be done meanwhile. */
  async #bridge(
    workload: ObservedWorkload,
    ledger: LedgerReading,
    trace: RebalanceTrace,
    verdict: Extract<Verdict, { kind: 'bridge' }>,
  ): Promise<{ readonly trace: RebalanceTrace; readonly againInMs?: number | undefined }> {
    const bridged = await this.#parts.bridger?.bridge(workload, trace, verdict, ledger);
    if (bridged === undefined || bridged.deferral === null) return bridged ?? { trace };
    const instead = this.#decide(workload, this.#parts.policyOf(workload), ledger, bridged.deferral);
    return instead.verdict.kind === 'bridge'
      ? { trace: deferred(trace, bridged.deferral, this.#parts.now()) }
      : this.#carryOut(workload, ledger, instead);
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
    const trace = this.#observeAndDecide(workload, this.#parts.policyOf(workload), ledger);
    const helped = trace.reason !== 'LedgerDiffers';
    const nextPeriodMs = helped ? RELIST_MS : Math.min(LONGEST_RELIST_MS, periodMs * 2);
    this.#relists.set(uid, { nextAtMs: nowMs + periodMs, periodMs: nextPeriodMs });
    return isMove(trace) ? this.#move(workload, ledger, trace) : { trace, againInMs: periodMs };
  }

  /** Whatever the stores, the policy and the ledger seemed to say is looked at anew right before a pod has to go. */
  async #move(
    workload: ObservedWorkload,
    known: LedgerReading,
    seemingly: MoveTrace,
  ): Promise<{ readonly trace: RebalanceTrace; readonly againInMs?: number | undefined }> {
    const { sources, probe, relist, policyOf, mayActOn, narrator, executor, now } = this.#parts;
    const { namespace = '', name } = workload.metadata;
    let trace: RebalanceTrace = seemingly;
    let againInMs: number | undefined;
    let ledger = known;
    const answer = await executor.evict(this.#evictionOf(workload, seemingly), async () => {
      await probe.ask();
      ledger = await relist(workload);
      const current = sources.cluster.workload(workload.workloadKind, `${namespace}/${name}`);
      if (current !== workload || !sources.cluster.isManaged(current)) {
        // It is looked at again because it changed.
        againInMs = SOON_MS;
        return null;
      }
      const policy = policyOf(current);
      const fresh = this.#observeAndDecide(current, policy, ledger);
      trace = fresh;
      if (!isMove(fresh)) {
        againInMs = isAtRest(fresh) ? undefined : SOON_MS;
        return null;
      }
      return mayActOn(workload) ? this.#confirmed(workload, policy, fresh) : null;
    });
    if (answer.kind === 'deferred') return { trace: deferred(trace, answer.deferral, now()) };
    if (answer.kind === 'cancelled') return { trace, againInMs };
    if (answer.kind === 'overtaken') return { trace: this.#decide(workload, policyOf(workload), ledger) };
    switch (answer.outcome.kind) {
      case 'evicted':
        narrator.moved(workload, trace);
        return { trace };
      case 'gone':
      case 'fenced':
        return { trace };
      case 'stale':
        return { trace, againInMs: SOON_MS };
      case 'blocked':
      case 'conflict':
      case 'tooManyBudgets':
      case 'forbidden':
      case 'unread':
      case 'error':
        // What holds the move now is the reason of this look already.
        return { trace: this.#decide(workload, policyOf(workload), ledger) };
      default:
        return answer.outcome satisfies never;
    }
  }

  #evictionOf(workload: ObservedWorkload, { reason, verdict }: MoveTrace): EvictIntent {
    const { uid, namespace = '' } = workload.metadata;
    const asker = {
      subject: askerOf(subjectOfWorkload(workload)),
      disrupts: { uid, namespace },
      nowMs: this.#parts.now(),
    };
    return evictionFor(asker, reason, verdict.move);
  }

  #confirmed(workload: ObservedWorkload, policy: PolicyReading, trace: MoveTrace): Confirmed {
    const { sources, moves } = this.#parts;
    const { cluster } = sources;
    const { uid, namespace = '' } = workload.metadata;
    const { pod, from, to, evidence, pdb, trial } = trace.verdict.move;
    return {
      intent: this.#evictionOf(workload, trace),
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
}

type MoveTrace = RebalanceTrace & { readonly verdict: Extract<Verdict, { kind: 'move' }> };

/** What was asked for before may still be what is wanted. */
const asks = ({ verdict }: RebalanceTrace): boolean => verdict.kind === 'move' || verdict.kind === 'bridge';

const isMove = (trace: RebalanceTrace): trace is MoveTrace => trace.verdict.kind === 'move';

/** Nothing is to be done, or not before something changes. */
const isAtRest = ({ verdict, reason }: RebalanceTrace): boolean =>
  (verdict.kind === 'nothing' || verdict.kind === 'wait') && reason !== 'LedgerDiffers';

const inMs = (untilMs: number | undefined, nowMs: number): number | undefined =>
  untilMs === undefined ? undefined : Math.max(0, untilMs - nowMs);
