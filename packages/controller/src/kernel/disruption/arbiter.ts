import {
  arbitrate,
  type Arbitration,
  type Budgets,
  type Deferral,
  type EvictIntent,
  type Intent,
  type PodReference,
  ranks,
  type RemovalIntent,
  type Spent,
  spentFor,
} from '@spotalis/core';
import type { Register } from './register.ts';

/** Whoever still wants something says so at its next look: a minute that is spent makes that the latest. */
const FORGET_MS = 90_000;
/** Much longer than a fresh look takes. */
const RESERVED_MS = 60_000;

export interface ArbiterParts {
  readonly register: Register;
  readonly budgets: () => Budgets;
  /** What the subject asked for before was granted: it is to be looked at now. */
  readonly wake: (subject: string) => void;
  readonly now: () => number;
}

/** A pod that may be removed, and what that spent. */
export interface GrantedRemoval {
  readonly pod: PodReference;
  readonly spent: Spent;
}

interface Waiting {
  readonly intent: Intent;
  readonly askedAtMs: number;
}

/** Keeps the intents that wait, and reserves what is granted in the register in the same tick. */
export class Arbiter {
  readonly #parts: ArbiterParts;
  /** By id, the newest that was asked for. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(parts: ArbiterParts) {
    this.#parts = parts;
  }

  /** In place of what was asked for under the same id. Null: it is reserved. */
  askToEvict(intent: EvictIntent): Deferral | null {
    const { register, now } = this.#parts;
    register.expire(now() - RESERVED_MS);
    const reserved = register.reservationOf(intent.workload.uid);
    if (reserved?.id === intent.id) {
      if (reserved.pod.uid === intent.pod.uid && reserved.node === intent.node) return null;
      register.cancel(intent.workload.uid);
    }
    this.#wait(intent);
    const deferral = this.#spentForAll(intent) ?? this.#arbitrate(intent).deferred.get(intent.id) ?? null;
    if (deferral === null) this.#waiting.delete(intent.id);
    return deferral;
  }

  /** In place of what was asked for under the same id. What is granted is spent; the rest has to be asked for again. */
  askToRemove(intent: RemovalIntent): {
    readonly granted: readonly GrantedRemoval[];
    readonly deferral: Deferral | null;
  } {
    const { register, now } = this.#parts;
    const { id, workload } = intent;
    if (register.reservationOf(workload.uid)?.id === id) register.cancel(workload.uid);
    this.#wait(intent);
    const { granted, deferred } = this.#arbitrate(intent);
    const mine = granted.find((one) => one.id === id && one.kind === 'removeNeverRan');
    if (mine?.kind !== 'removeNeverRan') return { granted: [], deferral: deferred.get(id) ?? null };
    this.#waiting.delete(id);
    return {
      granted: mine.pods.map((pod) => ({ pod, spent: register.removing(workload.namespace, now()) })),
      deferral: deferred.get(id) ?? null,
    };
  }

  /** It is not wanted any more, neither waiting nor reserved. */
  withdraw(id: string, workloadUid: string): void {
    this.#waiting.delete(id);
    const { register } = this.#parts;
    if (register.reservationOf(workloadUid)?.id !== id) return;
    register.cancel(workloadUid);
    this.freed();
  }

  /** Something ended or was given back, so that others may be granted what they wait for. */
  freed(): void {
    if (this.#waiting.size > 0) this.#arbitrate(undefined);
  }

  #wait(intent: Intent): void {
    const known = this.#waiting.get(intent.id);
    const sinceMs = Math.min(known?.intent.sinceMs ?? intent.sinceMs, intent.sinceMs);
    this.#waiting.set(intent.id, { intent: { ...intent, sinceMs }, askedAtMs: this.#parts.now() });
  }

  /** A budget that has nothing left for any pod of the namespace. */
  spentFor(namespace: string): Deferral | null {
    const { register, budgets, now } = this.#parts;
    const limits = budgets();
    return spentFor(namespace, register.view(limits.maxMovesPerMinute, now()), limits, now());
  }

  /**
   * Where a budget of all is spent nobody can be granted anything, and in a cluster where thousands wait nobody has to
   * be asked.
   */
  #spentForAll({ rank, workload }: EvictIntent): Deferral | null {
    const { register } = this.#parts;
    if (rank === ranks.interruption || register.has(workload.uid)) return null;
    const deferral = this.spentFor(workload.namespace);
    const isForAll =
      deferral?.reason === 'BudgetSpent' && (deferral.budget === 'cluster' || deferral.budget === 'minute');
    return isForAll ? deferral : null;
  }

  /**
   * Reserves the evictions that are granted, and wakes those who did not ask just now. Removals are not reserved for
   * them: they go first again when they ask.
   */
  #arbitrate(asking: Intent | undefined): Arbitration {
    const { register, budgets, wake, now } = this.#parts;
    const nowMs = now();
    for (const [id, { askedAtMs }] of this.#waiting) {
      if (askedAtMs <= nowMs - FORGET_MS) this.#waiting.delete(id);
    }
    const limits = budgets();
    const intents = [...this.#waiting.values()].map(({ intent }) => intent);
    const arbitration = arbitrate(intents, register.view(limits.maxMovesPerMinute, nowMs), limits, nowMs);
    for (const intent of arbitration.granted) {
      if (intent.kind === 'evict') {
        register.reserve(intent, nowMs);
        this.#waiting.delete(intent.id);
      }
      if (intent.id !== asking?.id) wake(intent.subject);
    }
    return arbitration;
  }
}
