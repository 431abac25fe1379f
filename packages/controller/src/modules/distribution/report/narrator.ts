import {
  type CapacityType,
  capacityTypes,
  explainRebalance,
  type ObservedWorkload,
  type RebalanceReason,
  reasonTraits,
  type RebalanceTrace,
  wantsMoves,
  wantsMovesTo,
} from '@spotalis/core';
import type { EventRecorder } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import { referenceTo, subjectOfWorkload } from '../../../kernel/cluster/subject.ts';
import { type Drift, dueMsOf, followDrift } from './drift.ts';
import type { DistributionEvent } from './events.ts';
import type { MoveMetrics } from './metrics.ts';
import type { Condition } from './views.ts';

interface Told {
  workload: ObservedWorkload;
  /** What people last saw or could see of it. */
  verdict: Shown | undefined;
  standing: RebalanceTrace['standing'];
  drift: Drift | undefined;
  drought: RebalanceTrace['drought'];
  block: { readonly reason: RebalanceReason; readonly sinceMs: number; told: boolean } | undefined;
}

interface Shown {
  readonly verdict: string;
  readonly reason: RebalanceReason;
  readonly text: string;
  readonly untilMs: number | null;
  readonly sinceMs: number;
}

/** A workload that drifts, and the types of which a node may end that. */
export interface Drifting {
  readonly subject: string;
  readonly workload: ObservedWorkload;
  readonly seeks: readonly CapacityType[];
}

export interface NarratorParts {
  readonly recorder: Pick<EventRecorder<DistributionEvent>, 'record'>;
  readonly metrics: Pick<MoveMetrics, 'blocked'>;
  readonly logger: Logger;
}

/** Tells people what was decided, from the one trace: Events, metrics, log lines, and the page of the present state. */
export class Narrator {
  readonly #parts: NarratorParts;
  readonly #told = new Map<string, Told>();
  /** By subject: a change of a node is not to walk all workloads. */
  readonly #drifting = new Map<string, Drifting>();

  constructor(parts: NarratorParts) {
    this.#parts = parts;
  }

  /** Returns the milliseconds after which it wants to be told again at the latest, if any. */
  tell(
    subject: string,
    workload: ObservedWorkload,
    trace: RebalanceTrace,
    nowMs: number,
  ): number | undefined {
    const drifts = trace.standing !== null && wantsMoves(trace.standing);
    const told = this.#told.get(subject) ?? this.#first(subject, workload);
    told.workload = workload;
    const { verdict, reason } = trace;
    const { alerts } = reasonTraits[reason];
    const before = told.verdict;
    told.verdict = {
      verdict: verdict.kind,
      reason,
      text: explainRebalance(trace),
      untilMs: verdict.kind === 'wait' ? verdict.untilMs : null,
      sinceMs: reason === before?.reason ? before.sinceMs : nowMs,
    };
    told.drift = drifts ? followDrift(told.drift, reason, trace, nowMs) : undefined;
    if (drifts) this.#drifting.set(subject, { subject, workload, seeks: soughtBy(trace) });
    else this.#drifting.delete(subject);
    told.standing = trace.standing;
    told.drought = trace.drought;
    const annotates = verdict.kind === 'correct' || verdict.kind === 'renumber';
    const acts = annotates || verdict.kind === 'move' || verdict.kind === 'bridge';
    const isHeld = drifts || alerts?.always === true;
    if (isHeld && !acts && reason !== before?.reason) this.#parts.metrics.blocked(reason);
    if (drifts && before?.reason === 'WindowClosed' && reason !== 'WindowClosed') this.#windowOpened(told);
    // Asked for only: what held it before may hold it again, when the API server has answered.
    if (annotates) return undefined;
    return this.#followBlock(told, acts || !isHeld ? undefined : told.verdict, nowMs);
  }

  /** The eviction was taken. */
  moved(workload: ObservedWorkload, trace: RebalanceTrace): void {
    const note = explainRebalance(trace);
    const { logger, recorder } = this.#parts;
    const { reason, facts } = trace;
    logger.info('moved', {
      workload: subjectOfWorkload(workload),
      reason,
      ...facts,
      standing: trace.standing,
    });
    const regarding = referenceTo(workload.workloadKind, workload);
    recorder.record({ regarding, type: 'Normal', reason: 'Moved', action: 'Evict', note });
  }

  forget(subject: string): void {
    this.#told.delete(subject);
    this.#drifting.delete(subject);
  }

  /** Of all workloads, for metrics. */
  *conditions(nowMs: number): Generator<Condition> {
    for (const { workload, standing, drift, drought } of this.#told.values()) {
      const driftSeconds = drift === undefined ? 0 : Math.max(0, (nowMs - drift.sinceMs) / 1000);
      const dueSeconds = dueMsOf(drift, nowMs) / 1000;
      yield { workload, drift: standing?.drift ?? null, driftSeconds, dueSeconds, drought };
    }
  }

  drifting(): Iterable<Drifting> {
    return this.#drifting.values();
  }

  /** Of one workload, for people. */
  shown(subject: string): unknown {
    const told = this.#told.get(subject);
    if (told?.verdict === undefined) return undefined;
    const { untilMs, sinceMs, ...verdict } = told.verdict;
    const time = (ms: number | null | undefined) => (ms == null ? null : new Date(ms).toISOString());
    return { ...verdict, since: time(sinceMs), until: time(untilMs), driftSince: time(told.drift?.sinceMs) };
  }

  #first(subject: string, workload: ObservedWorkload): Told {
    const told: Told = {
      workload,
      verdict: undefined,
      standing: null,
      drift: undefined,
      drought: null,
      block: undefined,
    };
    this.#told.set(subject, told);
    return told;
  }

  /** One Event for each reason that lasts. `held`: undefined, nothing is in the way any more. */
  #followBlock(told: Told, held: Shown | undefined, nowMs: number): number | undefined {
    if (held === undefined) {
      told.block = undefined;
      return undefined;
    }
    const { reason, text } = held;
    const { alerts } = reasonTraits[reason];
    if (alerts === null) return undefined;
    if (told.block?.reason !== reason) told.block = { reason, sinceMs: nowMs, told: false };
    if (told.block.told) return undefined;
    const leftMs = told.block.sinceMs + alerts.afterMs - nowMs;
    if (leftMs > 0) return leftMs;
    told.block.told = true;
    const { logger, recorder } = this.#parts;
    logger.info('move blocked', { workload: subjectOfWorkload(told.workload), reason, why: text });
    recorder.record({
      regarding: referenceTo(told.workload.workloadKind, told.workload),
      type: 'Warning',
      reason: alerts.event,
      action: 'Rebalance',
      note: `${reason}: ${text}`,
    });
    return undefined;
  }

  #windowOpened({ workload }: Told): void {
    this.#parts.logger.info('window opened', { workload: subjectOfWorkload(workload) });
    this.#parts.recorder.record({
      regarding: referenceTo(workload.workloadKind, workload),
      type: 'Normal',
      reason: 'WindowOpened',
      action: 'Rebalance',
      note: 'Moves may start now.',
    });
  }
}

/** In a drought, and while pods wait, nodes of both types matter: for the substitute and for the return. */
function soughtBy({ standing, drought, waiting }: RebalanceTrace): readonly CapacityType[] {
  const isOrdinary = (drought === null || drought === 'closed') && Object.keys(waiting).length === 0;
  return capacityTypes.filter((type) => !isOrdinary || (standing !== null && wantsMovesTo(standing, type)));
}
