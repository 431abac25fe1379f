import {
  explainRebalance,
  type ObservedWorkload,
  type RebalanceReason,
  type RebalanceTrace,
  wantsMoves,
} from '@spotalis/core';
import type { EventRecorder } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import { referenceTo, subjectOfWorkload } from '../lead/subject.ts';
import { type Drift, dueMsOf, followDrift } from './drift.ts';
import type { ControllerEvent } from './events.ts';
import type { MoveMetrics } from './metrics.ts';
import type { Condition } from './views.ts';

/** A block that is gone before this was only the cluster catching up. */
const LASTING_MS = 5_000;
/** In each burst on an autoscaled cluster pods wait for a node that is being made. */
const LASTING_FOR_A_NODE_MS = 60_000;

/**
 * How every move goes, what its owner asked for, or what a person need not hear of: these come and go with each
 * move, and do not end what was told before them.
 */
const passing: ReadonlySet<string> = new Set<RebalanceReason>([
  'ReadOnly',
  'NodeDiffers',
  'CostOrder',
  'Paused',
  'WorkloadDeleted',
  'RolloutPaused',
  'GenerationBehind',
  'RolloutInProgress',
  'MoveInFlight',
  'Cooldown',
  'WindowClosed',
  'Settling',
  'PodsMissing',
  'LedgerDiffers',
  'ReplacementsUnseen',
  'WorkloadBusy',
  'BudgetSpent',
  'PdbBehind',
  'AwaitingSpot',
  'InDrought',
  'ReturnUnderWay',
]);

/** Told under their own names, and although the counts are right: nothing else would. Others share `MoveBlocked`. */
const loud = [
  'OnDemandShort',
  'NoFallback',
  'PodsUnscheduled',
  'PlacementOverridden',
  'PlacementConflict',
] as const satisfies RebalanceReason[];

const loudName = (reason: string): (typeof loud)[number] | undefined => loud.find((name) => name === reason);

interface Told {
  workload: ObservedWorkload;
  /** What people last saw or could see of it. */
  verdict: Shown;
  drift: Drift | undefined;
  drought: RebalanceTrace['drought'];
  block: { readonly reason: string; readonly sinceMs: number; told: boolean } | undefined;
}

interface Shown {
  readonly verdict: string;
  readonly reason: string;
  readonly text: string;
  readonly untilMs: number | null;
  readonly sinceMs: number;
}

export interface NarratorParts {
  readonly recorder: Pick<EventRecorder<ControllerEvent>, 'record'>;
  readonly metrics: Pick<MoveMetrics, 'blocked'>;
  readonly logger: Logger;
}

/** Tells people what was decided, from the one trace: Events, metrics, log lines, and the page of the present state. */
export class Narrator {
  readonly #parts: NarratorParts;
  readonly #told = new Map<string, Told>();

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
    const told = this.#told.get(subject) ?? this.#first(subject, workload, nowMs);
    told.workload = workload;
    const { verdict, reason } = trace;
    const before = told.verdict;
    told.verdict = {
      verdict: verdict.kind,
      reason,
      text: explainRebalance(trace),
      untilMs: verdict.kind === 'wait' ? verdict.untilMs : null,
      sinceMs: reason === before.reason ? before.sinceMs : nowMs,
    };
    told.drift = drifts ? followDrift(told.drift, reason, trace, nowMs) : undefined;
    told.drought = trace.drought;
    const acts = ['move', 'bridge', 'correct', 'renumber'].includes(verdict.kind);
    const isHeld = drifts || reason === 'AnnotationRefused' || loudName(reason) !== undefined;
    if (isHeld && !acts && reason !== before.reason) this.#parts.metrics.blocked(reason);
    if (drifts && before.reason === 'WindowClosed' && reason !== 'WindowClosed') this.#windowOpened(told);
    return this.#followBlock(told, acts || !isHeld, nowMs);
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
  }

  /** Of all workloads, for metrics. */
  *conditions(nowMs: number): Generator<Condition> {
    for (const { workload, drift, drought } of this.#told.values()) {
      const driftSeconds = drift === undefined ? 0 : Math.max(0, (nowMs - drift.sinceMs) / 1000);
      yield { workload, driftSeconds, dueSeconds: dueMsOf(drift, nowMs) / 1000, drought };
    }
  }

  /** The subjects of those with drift. */
  drifting(): readonly string[] {
    return [...this.#told].filter(([, told]) => told.drift !== undefined).map(([subject]) => subject);
  }

  /** Of one workload, for people. */
  shown(subject: string): unknown {
    const told = this.#told.get(subject);
    if (told === undefined) return undefined;
    const { untilMs, sinceMs, ...verdict } = told.verdict;
    const time = (ms: number | null | undefined) => (ms == null ? null : new Date(ms).toISOString());
    return { ...verdict, since: time(sinceMs), until: time(untilMs), driftSince: time(told.drift?.sinceMs) };
  }

  #first(subject: string, workload: ObservedWorkload, nowMs: number): Told {
    const verdict: Shown = { verdict: '', reason: '', text: '', untilMs: null, sinceMs: nowMs };
    const told: Told = { workload, verdict, drift: undefined, drought: null, block: undefined };
    this.#told.set(subject, told);
    return told;
  }

  /** One Event for each reason that lasts. */
  #followBlock(told: Told, isOver: boolean, nowMs: number): number | undefined {
    if (isOver) {
      told.block = undefined;
      return undefined;
    }
    const { reason, text } = told.verdict;
    if (passing.has(reason)) return undefined;
    if (told.block?.reason !== reason) told.block = { reason, sinceMs: nowMs, told: false };
    if (told.block.told) return undefined;
    const lastingMs = reason === 'OnDemandShort' ? LASTING_FOR_A_NODE_MS : LASTING_MS;
    const leftMs = told.block.sinceMs + lastingMs - nowMs;
    if (leftMs > 0) return leftMs;
    told.block.told = true;
    const { logger, recorder } = this.#parts;
    logger.info('move blocked', { workload: subjectOfWorkload(told.workload), reason, why: text });
    recorder.record({
      regarding: referenceTo(told.workload.workloadKind, told.workload),
      type: 'Warning',
      reason: loudName(reason) ?? 'MoveBlocked',
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
