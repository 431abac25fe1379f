import type { Refusal } from '@spotalis/core';
import type { RefusedAnnotation } from '../../modules/distribution/annotate/annotator.ts';
import type { Outcome } from './evictor.ts';

type RefusedOutcome = Exclude<Outcome, { kind: 'evicted' | 'gone' | 'fenced' | 'stale' }>;

/** When a PDB says no and the API server names no time. */
const BLOCKED_MS = 10_000;
/** So long an eviction that failed by its precondition keeps the PDB's budget spent. */
const SPENT_PDB_MS = 120_000;
const CHANGED_MS = 1_000;
/** Nothing but a change of a PDB helps, and that ends the hold at once. */
const TWO_PDBS_MS = 300_000;
const FIRST_BACKOFF_MS = 5_000;
const LONGEST_BACKOFF_MS = 300_000;

/** Neither holds the other. */
type Act = 'evict' | 'annotate';

/** What the API server refused is asked again after a while, per workload. */
export class Holds {
  readonly #random: () => number;
  readonly #holds = new Map<string, Refusal>();
  readonly #failures = new Map<string, number>();

  constructor(random: () => number) {
    this.#random = random;
  }

  of(workloadUid: string, nowMs: number, act: Act = 'evict'): Refusal | undefined {
    const hold = this.#holds.get(keyOf(workloadUid, act));
    return hold === undefined || hold.untilMs <= nowMs ? undefined : hold;
  }

  refused(workloadUid: string, outcome: RefusedOutcome, hasPdb: boolean, nowMs: number): Refusal {
    const hold = this.#hold(workloadUid, outcome, hasPdb, nowMs);
    this.#holds.set(keyOf(workloadUid, 'evict'), hold);
    return hold;
  }

  annotationRefused(workloadUid: string, { pod, message }: RefusedAnnotation, nowMs: number): Refusal {
    const hold: Refusal = {
      reason: 'AnnotationRefused',
      message: `Pod ${pod} cannot be annotated with its capacity type and deletion cost: ${message}`,
      untilMs: nowMs + this.#backoff(keyOf(workloadUid, 'annotate')),
    };
    this.#holds.set(keyOf(workloadUid, 'annotate'), hold);
    return hold;
  }

  /** It went well, or circumstances have changed. */
  lift(workloadUid: string, act: Act = 'evict'): void {
    const key = keyOf(workloadUid, act);
    this.#holds.delete(key);
    this.#failures.delete(key);
  }

  forget(workloadUid: string): void {
    this.lift(workloadUid, 'evict');
    this.lift(workloadUid, 'annotate');
  }

  #hold(workloadUid: string, outcome: RefusedOutcome, hasPdb: boolean, nowMs: number): Refusal {
    switch (outcome.kind) {
      case 'blocked': {
        const untilMs = nowMs + this.#jittered(outcome.retryAfterMs ?? BLOCKED_MS);
        return { reason: 'EvictionRefused', message: outcome.message, untilMs };
      }
      case 'conflict': {
        const untilMs = nowMs + this.#jittered(hasPdb ? SPENT_PDB_MS : CHANGED_MS);
        return { reason: 'EvictionRefused', message: outcome.message, untilMs };
      }
      case 'tooManyBudgets':
        return { reason: 'EvictionRefused', message: outcome.message, untilMs: nowMs + TWO_PDBS_MS };
      case 'forbidden': {
        const untilMs = nowMs + this.#backoff(keyOf(workloadUid, 'evict'));
        return { reason: 'EvictionForbidden', message: outcome.message, untilMs };
      }
      case 'unread':
      case 'error': {
        const untilMs = nowMs + this.#backoff(keyOf(workloadUid, 'evict'));
        return { reason: 'EvictionFailed', message: outcome.error.message, untilMs };
      }
      default:
        return outcome satisfies never;
    }
  }

  /** Up to a fifth longer: workloads that were refused together do not ask together again. */
  #jittered(ms: number): number {
    return ms * (1 + this.#random() / 5);
  }

  #backoff(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    return this.#jittered(Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures, 10)));
  }
}

const keyOf = (workloadUid: string, act: Act): string => `${act} ${workloadUid}`;
