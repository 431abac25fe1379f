import type { Refusal } from '@spotalis/core';
import { Pauses } from '../pauses.ts';
import type { Outcome } from './evictor.ts';

type RefusedOutcome = Exclude<Outcome, { kind: 'evicted' | 'gone' | 'fenced' | 'stale' }>;

/** When a PDB says no and the API server names no time. */
const BLOCKED_MS = 10_000;
/** So long an eviction that failed by its precondition keeps the PDB's budget spent. */
const SPENT_PDB_MS = 120_000;
const CHANGED_MS = 1_000;
/** Nothing but a change of a PDB helps, and that ends the hold at once. */
const TWO_PDBS_MS = 300_000;

/** Evictions that the API server refused are asked for again after a while, per workload. */
export class Holds {
  readonly #holds = new Map<string, Refusal>();
  readonly #pauses: Pauses;

  constructor(random: () => number) {
    this.#pauses = new Pauses(random);
  }

  of(workloadUid: string, nowMs: number): Refusal | undefined {
    const hold = this.#holds.get(workloadUid);
    return hold === undefined || hold.untilMs <= nowMs ? undefined : hold;
  }

  refused(workloadUid: string, outcome: RefusedOutcome, hasPdb: boolean, nowMs: number): Refusal {
    const hold = this.#hold(workloadUid, outcome, hasPdb, nowMs);
    this.#holds.set(workloadUid, hold);
    return hold;
  }

  /** It went well, or circumstances have changed. */
  lift(workloadUid: string): void {
    this.#holds.delete(workloadUid);
    this.#pauses.forget(workloadUid);
  }

  #hold(workloadUid: string, outcome: RefusedOutcome, hasPdb: boolean, nowMs: number): Refusal {
    switch (outcome.kind) {
      case 'blocked': {
        const untilMs = nowMs + this.#pauses.jittered(outcome.retryAfterMs ?? BLOCKED_MS);
        return { reason: 'EvictionRefused', message: outcome.message, untilMs };
      }
      case 'conflict': {
        const untilMs = nowMs + this.#pauses.jittered(hasPdb ? SPENT_PDB_MS : CHANGED_MS);
        return { reason: 'EvictionRefused', message: outcome.message, untilMs };
      }
      case 'tooManyBudgets':
        return { reason: 'EvictionRefused', message: outcome.message, untilMs: nowMs + TWO_PDBS_MS };
      case 'forbidden': {
        const untilMs = nowMs + this.#pauses.next(workloadUid);
        return { reason: 'EvictionForbidden', message: outcome.message, untilMs };
      }
      case 'unread':
      case 'error': {
        const untilMs = nowMs + this.#pauses.next(workloadUid);
        return { reason: 'EvictionFailed', message: outcome.error.message, untilMs };
      }
      default:
        return outcome satisfies never;
    }
  }
}
