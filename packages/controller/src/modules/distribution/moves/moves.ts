import {
  afterMove,
  type CapacityType,
  hasSameDefaults,
  type MoveHistory,
  type ObservedPod,
  type PolicyReading,
  type PodMark,
  readPodMark,
} from '@spotalis/core';
import type { Logger } from '@spotalis/runtime';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';
import type { DisruptionHooks, DisruptionResult } from '../../../kernel/disruption/register.ts';
import type { MoveMetrics } from '../report/metrics.ts';
import type { Bypass } from '../webhook/bypass.ts';
import type { SharedDefaults } from '../webhook/shared-defaults.ts';

/** A move of one pod. */
export interface Move {
  readonly workloadUid: string;
  readonly pod: string;
  readonly from: CapacityType;
  readonly to: CapacityType;
  /** All pods that the workload had: whatever comes beside them is the replacement. */
  readonly present: readonly string[];
  /** Made to see whether the webhook is in the way of admissions again. */
  readonly trial: boolean;
  /** Its replacement shows whether the webhook has the same `defaults`. */
  readonly restsOnDefaults: boolean;
}

interface UnderWay extends Move {
  readonly beganAtMs: number;
  /** Whether a replacement came, and through admission. */
  replacement: 'unseen' | 'steered' | 'unsteered';
  /** To be noted when the replacement is first seen: its annotations will be corrected. */
  override: string | null;
}

/** Much longer than a ReplicaSet takes to make up for a pod. */
const ARRIVAL_MS = 30_000;

export interface MovesParts {
  readonly cluster: Pick<Cluster, 'nodeTypeOf'>;
  readonly bypass: Bypass;
  readonly sharedDefaults: SharedDefaults;
  /** By what pods of the workload are admitted; null: they are left alone, so that they say nothing about the webhook. */
  readonly admissionOf: (workloadUid: string) => PolicyReading | null;
  /** When this process began to lead; undefined: nobody led before. */
  readonly tookOverAtMs: () => number | undefined;
  readonly metrics: Pick<MoveMetrics, 'moved'>;
  readonly now: () => number;
  readonly logger: Logger;
}

/** The moves that this process began, and how the last one of each workload ended. */
export class Moves {
  readonly #parts: MovesParts;
  readonly #underWay = new Map<string, UnderWay>();
  readonly #history = new Map<string, MoveHistory>();

  constructor(parts: MovesParts) {
    this.#parts = parts;
  }

  /** What the kernel asks and tells about it. */
  hooksOf(move: Move): DisruptionHooks {
    const { bypass, sharedDefaults, now } = this.#parts;
    const { workloadUid, to, trial, restsOnDefaults } = move;
    return {
      mayBegin: () => {
        const nowMs = now();
        return bypass.allows(this.unproven(nowMs)) && (!restsOnDefaults || sharedDefaults.allows(nowMs));
      },
      began: () => {
        const nowMs = now();
        this.#underWay.set(workloadUid, {
          ...move,
          beganAtMs: nowMs,
          replacement: 'unseen',
          override: null,
        });
        if (trial) bypass.tried(nowMs);
        const refused = restsOnDefaults ? sharedDefaults.tried(nowMs) : undefined;
        return () => {
          this.#underWay.delete(workloadUid);
          refused?.();
        };
      },
      judge: (fresh) => this.#judge(workloadUid, fresh),
      ended: (result, lastedMs) => this.#ended(workloadUid, result, lastedMs),
      shown: () => ({ to, replacement: this.#underWay.get(workloadUid)?.replacement }),
    };
  }

  /** The move of a workload that is under way. */
  of(workloadUid: string): Move | undefined {
    return this.#underWay.get(workloadUid);
  }

  historyOf(workloadUid: string): MoveHistory | null {
    const known = this.#history.get(workloadUid);
    if (known !== undefined) return known;
    const endedAtMs = this.#parts.tookOverAtMs();
    if (endedAtMs === undefined) return null;
    return { from: 'spot', to: 'on-demand', endedAtMs, failures: 0, override: null };
  }

  /** The workload is gone. */
  forget(workloadUid: string): void {
    this.#history.delete(workloadUid);
  }

  /**
   * Moves of which nobody knows yet whether their replacement goes through admission. One that has not come for long
   * is held back by something else, a quota perhaps, and says nothing about admissions.
   */
  unproven(nowMs: number): number {
    let count = 0;
    for (const { replacement, beganAtMs } of this.#underWay.values()) {
      if (replacement === 'unseen' && beganAtMs > nowMs - ARRIVAL_MS) count++;
    }
    return count;
  }

  #judge(workloadUid: string, fresh: readonly ObservedPod[]): 'succeeded' | 'failed' | undefined {
    const move = this.#underWay.get(workloadUid);
    if (move === undefined) return undefined;
    const [first] = fresh;
    move.override ??= first?.override ?? null;
    if (first !== undefined && move.replacement === 'unseen') {
      const mark = readPodMark(first.annotations);
      // A StatefulSet's pods have no token; the type alone says that admission saw them.
      const isSteered = mark.type !== null;
      move.replacement = isSteered ? 'steered' : 'unsteered';
      this.#arrived(workloadUid, isSteered, mark.numbers, first.createdAtMs);
    }
    const typeOf = (pod: ObservedPod) =>
      this.#parts.cluster.nodeTypeOf(pod) ?? readPodMark(pod.annotations).type;
    if (fresh.some((pod) => pod.ready && typeOf(pod) === move.to)) return 'succeeded';
    // All that came are of the type that there was too much of, wherever they wait.
    return fresh.length > 0 && fresh.every((pod) => typeOf(pod) === move.from) ? 'failed' : undefined;
  }

  #arrived(workloadUid: string, isSteered: boolean, numbers: PodMark['numbers'], createdAtMs: number): void {
    const { bypass, sharedDefaults, admissionOf, now, logger } = this.#parts;
    const admission = admissionOf(workloadUid);
    if (admission === null) return;
    const nowMs = now();
    const isSame = hasSameDefaults(admission, numbers);
    const held = isSame === null ? null : sharedDefaults.arrived(isSame, createdAtMs, nowMs);
    if (held === 'free') logger.info('a webhook admits by the same defaults as this leader');
    if (held === 'held')
      logger.warn('a webhook admits by other defaults; only trials of moves that rely on them');
    // Such a webhook leaves pods alone just as one does that is passed by.
    if (!isSteered && isSame === false) return;
    if (!bypass.arrived(isSteered, nowMs)) return;
    if (isSteered) logger.info('admissions go through the webhook again');
    else logger.error('pods are created past the webhook; no more moves but one trial every 10 minutes');
  }

  #ended(workloadUid: string, result: DisruptionResult, lastedMs: number): void {
    const { metrics, now, logger } = this.#parts;
    const move = this.#underWay.get(workloadUid);
    if (move === undefined) return;
    this.#underWay.delete(workloadUid);
    const { pod, from, to, override } = move;
    if (result !== 'lost') {
      const outcome = result === 'failed' || result === 'timeout' ? 'failed' : 'succeeded';
      const before = this.#history.get(workloadUid) ?? null;
      this.#history.set(workloadUid, afterMove(before, { from, to, outcome, override }, now()));
    }
    metrics.moved(from, to, result);
    logger[result === 'succeeded' || result === 'superseded' ? 'info' : 'warn']('move ended', {
      workloadUid,
      pod,
      from,
      to,
      result,
      lastedMs: Math.round(lastedMs),
    });
  }
}
