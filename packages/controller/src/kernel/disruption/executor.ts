import type { Deferral, EvictIntent, PodReference, RemovalIntent } from '@spotalis/core';
import type { Logger } from '@spotalis/runtime';
import type { Arbiter, GrantedRemoval } from './arbiter.ts';
import type { Evictor, Outcome } from './evictor.ts';
import type { Holds } from './holds.ts';
import type { Beginning, Register } from './register.ts';
import type { Victim, WorkloadState } from './state.ts';

export type { Outcome };

/** What a fresh look says of an eviction that was granted. */
export interface Confirmed extends Omit<Beginning, 'before'> {
  /** The pod is selected by a PDB. */
  readonly hasPdb: boolean;
}

export type Answer =
  | { readonly kind: 'deferred'; readonly deferral: Deferral }
  /** A fresh look did not confirm it. The budget is given back. */
  | { readonly kind: 'cancelled' }
  /** Others began while it was confirmed, so that its module holds it now. The budget is given back. */
  | { readonly kind: 'overtaken' }
  | { readonly kind: 'sent'; readonly outcome: Outcome };

/** What became of pods that never ran. */
export interface Removed {
  readonly count: number;
  /** What the others wait for. */
  readonly deferral: Deferral | null;
}

/** Removals at once: each is a read and a write, and a burst has hundreds. */
const AT_ONCE = 10;

export interface ExecutorParts {
  readonly arbiter: Arbiter;
  readonly register: Register;
  readonly holds: Holds;
  readonly evictor: Pick<Evictor, 'evict' | 'removeUnscheduled'>;
  readonly stateOf: (workloadUid: string, victim: Victim | undefined) => WorkloadState;
  /** How many are under way now. */
  readonly onCount: (count: number) => void;
  readonly moveTimeoutMs: () => number;
  readonly now: () => number;
  readonly logger: Logger;
}

/** Disturbs pods, as what they were when they were chosen, when it is granted and a fresh look confirms it. */
export class Executor {
  readonly #parts: ExecutorParts;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
  }

  /** `confirm` looks anew; null: nothing is asked for any more, or nothing may be done. */
  async evict(asked: EvictIntent, confirm: () => Promise<Confirmed | null>): Promise<Answer> {
    const { arbiter, register, evictor, stateOf, now } = this.#parts;
    const { uid, namespace } = asked.workload;
    const deferral = arbiter.askToEvict(asked);
    if (deferral !== null) return { kind: 'deferred', deferral };
    let confirmed: Confirmed | null = null;
    try {
      confirmed = await confirm();
    } finally {
      if (confirmed === null) arbiter.withdraw(asked.id, uid);
    }
    if (confirmed === null) return { kind: 'cancelled' };
    // From here to the eviction nothing waits: what was confirmed is so, and another pod is granted anew.
    const { hasPdb, ...begun } = confirmed;
    const { intent, hooks } = begun;
    const mayBegin = hooks.mayBegin?.() ?? true;
    if (!mayBegin) {
      arbiter.withdraw(asked.id, uid);
      return { kind: 'overtaken' };
    }
    const instead = arbiter.askToEvict(intent);
    if (instead !== null) return { kind: 'deferred', deferral: instead };
    if (!register.begin({ ...begun, before: stateOf(uid, register.victimOf(uid)) }, now()))
      return { kind: 'cancelled' };
    const refused = hooks.began?.();
    this.#counted();
    const outcome = await evictor.evict(namespace, intent.pod);
    if (!this.#settle(uid, intent.pod, hasPdb, outcome)) refused?.();
    return { kind: 'sent', outcome };
  }

  /**
   * Removes pods that have no node. The API server refuses it where one has changed since, so that no look at others is
   * needed. `mayAct` is asked before each few of them; `removed` is called for each that went by us.
   */
  async remove(
    asked: RemovalIntent,
    mayAct: () => boolean,
    removed: (pod: PodReference) => void,
  ): Promise<Removed> {
    const { arbiter, register } = this.#parts;
    const { granted, deferral } = arbiter.askToRemove(asked);
    let count = 0;
    for (let start = 0; start < granted.length; start += AT_ONCE) {
      const some = granted.slice(start, start + AT_ONCE);
      if (mayAct()) {
        const went = await Promise.all(some.map((one) => this.#remove(asked, one)));
        for (const [index, { pod }] of some.entries()) if (went[index]) removed(pod);
        count += went.filter(Boolean).length;
      } else for (const { spent } of some) register.giveBack(spent);
    }
    if (count < granted.length) arbiter.freed();
    return { count, deferral };
  }

  /** Returns whether it went, by us. */
  async #remove({ workload }: RemovalIntent, { pod, spent }: GrantedRemoval): Promise<boolean> {
    const { register, evictor, holds, now, logger } = this.#parts;
    const outcome = await evictor.removeUnscheduled(workload.namespace, pod);
    if (outcome.kind === 'evicted') return true;
    // Without an answer it may have been carried out.
    if (outcome.kind !== 'error') register.giveBack(spent);
    switch (outcome.kind) {
      case 'gone':
      case 'stale':
      case 'fenced':
      case 'conflict':
      case 'blocked':
      case 'tooManyBudgets':
        // It is gone or got a node meanwhile, or another leads.
        return false;
      case 'unread':
      case 'forbidden':
      case 'error':
        holds.refused(workload.uid, outcome, false, now());
        logger.warn('stuck pod not removed', { pod: pod.name, outcome });
        return false;
      default:
        return outcome satisfies never;
    }
  }

  /** Whether no pod of the namespace may be evicted now, whichever it is. */
  isSpent(namespace: string): boolean {
    return this.#parts.arbiter.spentFor(namespace) !== null;
  }

  /** Nothing is asked for under this id any more. */
  withdraw(id: string, workloadUid: string): void {
    this.#parts.arbiter.withdraw(id, workloadUid);
  }

  /** Ends the disruption of a workload when it is over. Returns when to look again, if it goes on. */
  follow(workloadUid: string): number | undefined {
    const { register, arbiter, stateOf, moveTimeoutMs, now } = this.#parts;
    if (!register.has(workloadUid)) return undefined;
    const limits = { moveTimeoutMs: moveTimeoutMs(), nowMs: now() };
    const state = stateOf(workloadUid, register.victimOf(workloadUid));
    const ended = register.follow(workloadUid, state, limits);
    this.#counted();
    if (ended === undefined) return register.nextLookMs(workloadUid, limits.moveTimeoutMs);
    ended.begun?.hooks.ended?.(ended.result, ended.lastedMs);
    arbiter.freed();
    return undefined;
  }

  /** Also those at whose workload nobody looks. */
  followAll(): void {
    for (const workloadUid of this.#parts.register.workloads) this.follow(workloadUid);
  }

  #counted(): void {
    this.#parts.onCount(this.#parts.register.count);
  }

  /** Returns whether the pod went, or may have. */
  #settle(workloadUid: string, pod: Pick<PodReference, 'name'>, hasPdb: boolean, outcome: Outcome): boolean {
    const { register, arbiter, holds, logger, now } = this.#parts;
    switch (outcome.kind) {
      case 'evicted':
      case 'gone':
        register.sent(workloadUid, 'taken');
        holds.lift(workloadUid);
        return true;
      case 'stale':
      case 'fenced':
        break;
      case 'error':
        // It may have been carried out: it counts until the pod shows.
        register.sent(workloadUid, 'unknown');
        holds.refused(workloadUid, outcome, hasPdb, now());
        logger.warn('eviction without an answer', { pod: pod.name, error: outcome.error });
        return true;
      case 'unread':
        holds.refused(workloadUid, outcome, hasPdb, now());
        logger.warn('eviction not sent', { pod: pod.name, error: outcome.error });
        break;
      case 'blocked':
      case 'conflict':
      case 'tooManyBudgets':
      case 'forbidden': {
        const { reason, message } = holds.refused(workloadUid, outcome, hasPdb, now());
        logger.debug('eviction refused', { pod: pod.name, reason, message });
      }
    }
    register.cancel(workloadUid);
    this.#counted();
    arbiter.freed();
    return false;
  }
}
