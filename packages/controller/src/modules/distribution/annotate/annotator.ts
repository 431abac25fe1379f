import {
  type Correction,
  foreignKeys,
  type ObservedWorkload,
  podKeys,
  type Renumbering,
  tokenOf,
} from '@spotalis/core';
import { ApiError, type ApiClient, asError, FenceClosedError, resource } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import { subjectOfWorkload } from '../../../kernel/cluster/subject.ts';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';
import type { RefusedAnnotation, RefusedAnnotations } from './refused.ts';
import type { MoveMetrics } from '../report/metrics.ts';
import type { Workers } from '../../../kernel/workers.ts';

const pods = resource('v1', 'pods', 'Pod');

/** So many of one workload at a time, and then its turn is over. */
const BATCH = 20;
/** Between two patches of the whole process: a policy change of thousands of pods is no load. */
const PACE_MS = 50;
const DEADLINE_MS = 10_000;
/** After a batch of patches, until the stores show them. */
const SHOWN_MS = 1_000;

/** How many workloads may have their turn at once: a patch that gets no answer holds up its own workload only. */
export const ANNOTATED_AT_ONCE = 5;

export interface AnnotatorParts {
  readonly client: Pick<ApiClient, 'mergePatch'>;
  readonly workers: Workers;
  readonly cluster: Pick<Cluster, 'pods'>;
  readonly refusals: Pick<RefusedAnnotations, 'refused' | 'forget'>;
  readonly metrics: Pick<MoveMetrics, 'annotated'>;
  readonly logger: Logger;
  /** Asked before each pod: a turn may be long in coming. */
  readonly mayActOn: (workload: ObservedWorkload) => boolean;
  /** Has the workload looked at, after so long. */
  readonly lookAgain: (subject: string, afterMs: number) => void;
  readonly pause: (ms: number) => Promise<void>;
  readonly now: () => number;
}

export type AnnotationKind = 'correct' | 'renumber';

export type Change = Correction | Renumbering;

/** What one look at a workload decided to have written on its pods. */
interface Task {
  readonly workload: ObservedWorkload;
  readonly kind: AnnotationKind;
  readonly changes: readonly Change[];
}

/**
 * Writes type, rank and deletion cost on pods, slowly and beside the looks at workloads: those never wait for it, and
 * what they decide rests on what the pods say meanwhile. The leader's.
 */
export class Annotator {
  readonly #parts: AnnotatorParts;
  /** By workload: what was decided last, until its turn is over. */
  readonly #tasks = new Map<string, Task>();
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: AnnotatorParts) {
    this.#parts = parts;
  }

  /** From now on, until the way out that it returns. What is not written by then is let go. */
  lead(): () => Promise<void> {
    const { workers } = this.#parts;
    workers.start(async (subject) => {
      await this.#takeTurn(subject);
      return undefined;
    });
    return () => {
      this.#tasks.clear();
      return workers.stop();
    };
  }

  /** Has these written on pods of the workload, in place of what was decided for it before. */
  want(workload: ObservedWorkload, kind: AnnotationKind, changes: Task['changes']): void {
    const subject = subjectOfWorkload(workload);
    this.#tasks.set(subject, { workload, kind, changes });
    this.#parts.workers.queue.add(subject);
  }

  /** Nothing is to be written on its pods any more. */
  drop(subject: string): void {
    this.#tasks.delete(subject);
  }

  /** Goes by what was decided last, also in the midst of it. */
  async #takeTurn(subject: string): Promise<void> {
    const { refusals, metrics, logger, mayActOn, lookAgain, now } = this.#parts;
    const tried = new Set<string>();
    let written = 0;
    let refused: RefusedAnnotation | null = null;
    let task: Task | undefined;
    while (tried.size < BATCH && this.#next(subject, tried) !== undefined) {
      await this.#wait();
      const next = this.#next(subject, tried);
      if (next === undefined || !mayActOn(next.task.workload)) break;
      ({ task } = next);
      const outcome = await this.#patch(subject, next.task, next.change);
      if (outcome === 'fenced') continue;
      tried.add(versionOf(next.change));
      if (outcome === 'written') {
        written++;
        metrics.annotated(task.kind, 1);
      } else if (outcome !== 'stale') refused ??= outcome;
    }
    this.#tasks.delete(subject);
    if (task === undefined) return;
    const { workload, kind, changes } = task;
    logger.info(kind === 'correct' ? 'types corrected' : 'costs renumbered', {
      workload: subject,
      written,
      left: changes.filter((change) => !tried.has(versionOf(change))).length + tried.size - written,
    });
    if (refused !== null) refusals.refused(workload.metadata.uid, refused, now());
    else refusals.forget(workload.metadata.uid);
    lookAgain(subject, refused === null ? SHOWN_MS : 0);
  }

  #next(
    subject: string,
    tried: ReadonlySet<string>,
  ): { readonly task: Task; readonly change: Change } | undefined {
    const task = this.#tasks.get(subject);
    const change = task?.changes.find((one) => !tried.has(versionOf(one)));
    return task === undefined || change === undefined ? undefined : { task, change };
  }

  #wait(): Promise<void> {
    const before = this.#turn;
    this.#turn = before.then(() => this.#parts.pause(PACE_MS));
    return before;
  }

  /**
   * `stale`: the pod is not as it was; a version that differs is refused by the API server. `fenced`: it was not sent,
   * because something else was decided, or nothing may be written any more.
   */
  async #patch(
    subject: string,
    task: Task,
    { pod, type, rank, cost }: Change,
  ): Promise<'written' | 'stale' | 'fenced' | RefusedAnnotation> {
    const { client, cluster, mayActOn } = this.#parts;
    const { namespace = '' } = task.workload.metadata;
    const fence = (): boolean => this.#tasks.get(subject) === task && mayActOn(task.workload);
    const { name, uid, resourceVersion } = pod;
    const observed = cluster.pods.get(`${namespace}/${name}`);
    const annotations = {
      [podKeys.capacityType]: type,
      // What the ledger knows it by, to be written where the pod does not say it.
      ...(rank === null || observed === undefined ? {} : { [podKeys.reservation]: tokenOf(observed) }),
      ...(rank === null ? {} : { [podKeys.rank]: String(rank) }),
      ...(cost === null ? {} : { [foreignKeys.podDeletionCost]: String(cost) }),
    };
    try {
      await client.mergePatch(
        pods,
        { namespace, name },
        { metadata: { uid, resourceVersion, annotations } },
        {},
        { once: true, deadlineMs: DEADLINE_MS, fence },
      );
      return 'written';
    } catch (thrown) {
      const error = asError(thrown);
      if (error instanceof FenceClosedError) return 'fenced';
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404 || error.status === 409) return 'stale';
      if (isRefusal(error)) return { pod: name, message: error.message };
      throw error;
    }
  }
}

const versionOf = ({ pod }: Change): string => `${pod.uid} ${pod.resourceVersion}`;

/** What the same request would come to again, until somebody changes a rule. */
const isRefusal = ({ status }: ApiError): boolean => status === 400 || status === 403 || status === 422;
