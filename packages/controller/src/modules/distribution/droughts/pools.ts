import type { Breaker, PoolState } from '@spotalis/core';
import { asError } from '@spotalis/kube';
import { type Ledger, poolNewsMs, poolOpenMs } from '@spotalis/ledger';
import type { Logger } from '@spotalis/runtime';

/** So many workloads of one placement have to find no capacity within a minute. */
const WORKLOADS = 3;
const MINUTE_MS = 60_000;
/** Long before it closes by itself. */
const RENEW_MS = poolOpenMs / 3;

interface Pool {
  /** Workloads in drought by UID, and since when. */
  readonly openedAtMs: Map<string, number>;
  isOpen: boolean;
  writtenAtMs: number;
  /** The one workload that tries whether there is capacity again. */
  prober: string | undefined;
}

export interface PoolsParts {
  readonly ledger: Pick<Ledger, 'openPool' | 'closePool' | 'isPoolOpen'>;
  readonly logger: Logger;
}

/**
 * Droughts that several workloads of one placement have at the same time. Each look at a workload tells its breaker,
 * so that a new leader knows them after its first round.
 */
export class Pools {
  readonly #parts: PoolsParts;
  readonly #pools = new Map<string, Pool>();
  readonly #poolOf = new Map<string, string>();
  readonly #closedAtMs = new Map<string, number>();

  constructor(parts: PoolsParts) {
    this.#parts = parts;
  }

  /** What the leader before this one opened still holds for admissions. */
  isOpen(pool: string): boolean {
    const known = this.#pools.get(pool);
    return known?.isOpen || (!this.#closedAtMs.has(pool) && this.#parts.ledger.isPoolOpen(pool));
  }

  stateOf(pool: string, nowMs: number): PoolState {
    if (this.isOpen(pool)) return { kind: 'open' };
    const untilMs = (this.#closedAtMs.get(pool) ?? Number.NEGATIVE_INFINITY) + poolNewsMs;
    if (untilMs > nowMs) return { kind: 'closing', untilMs };
    // Or it could not be closed.
    return { kind: this.#parts.ledger.isPoolOpen(pool) ? 'open' : 'closed' };
  }

  mayProbe(pool: string, workloadUid: string): boolean {
    const known = this.#pools.get(pool);
    if (known === undefined || !known.isOpen) return true;
    return known.prober === undefined || known.prober === workloadUid;
  }

  note(pool: string, workloadUid: string, breaker: Breaker, nowMs: number): void {
    const before = this.#poolOf.get(workloadUid);
    if (before !== undefined && before !== pool) this.forget(workloadUid, nowMs);
    if (before === undefined && breaker.state === 'closed') return;
    const known = this.#pools.get(pool) ?? this.#begin(pool);
    this.#poolOf.set(workloadUid, pool);
    const isProbing = breaker.state === 'half-open' && !breaker.proven;
    if (isProbing && hasTurn(breaker, nowMs)) known.prober = workloadUid;
    else if (known.prober === workloadUid) known.prober = undefined;
    if (breaker.state === 'open') {
      known.openedAtMs.set(workloadUid, breaker.openedAtMs);
      if (this.#isCommon(pool, known)) this.#open(pool, known, nowMs);
      return;
    }
    if (isProbing) return;
    this.#left(pool, known, workloadUid, nowMs);
    // There is capacity for one of them, so there may be for all.
    if (breaker.state === 'half-open') this.#close(pool, known, nowMs);
  }

  /** The workload is gone, or not ours any more. */
  forget(workloadUid: string, nowMs: number): void {
    const pool = this.#poolOf.get(workloadUid);
    const known = pool === undefined ? undefined : this.#pools.get(pool);
    if (pool === undefined || known === undefined) return;
    if (known.prober === workloadUid) known.prober = undefined;
    this.#left(pool, known, workloadUid, nowMs);
  }

  #isCommon(pool: string, known: Pool): boolean {
    if (this.isOpen(pool)) return true;
    const closedAtMs = this.#closedAtMs.get(pool);
    // Those that have not been looked at since there is capacity again say nothing new.
    return areClose(
      [...known.openedAtMs.values()].filter((atMs) => atMs > (closedAtMs ?? Number.NEGATIVE_INFINITY)),
    );
  }

  #begin(pool: string): Pool {
    const known: Pool = { openedAtMs: new Map(), isOpen: false, writtenAtMs: 0, prober: undefined };
    this.#pools.set(pool, known);
    return known;
  }

  #left(pool: string, known: Pool, workloadUid: string, nowMs: number): void {
    this.#poolOf.delete(workloadUid);
    known.openedAtMs.delete(workloadUid);
    if (known.openedAtMs.size > 0) return;
    this.#close(pool, known, nowMs);
    this.#pools.delete(pool);
  }

  #open(pool: string, known: Pool, nowMs: number): void {
    if (known.isOpen && nowMs - known.writtenAtMs < RENEW_MS) return;
    if (!known.isOpen) this.#parts.logger.warn('no spot capacity for a whole placement', { pool });
    known.isOpen = true;
    known.writtenAtMs = nowMs;
    this.#write(this.#parts.ledger.openPool(pool, poolOpenMs));
  }

  #close(pool: string, known: Pool, nowMs: number): void {
    const isClosing = this.stateOf(pool, nowMs).kind === 'closing';
    if (!known.isOpen && (isClosing || !this.#parts.ledger.isPoolOpen(pool))) return;
    known.isOpen = false;
    this.#closedAtMs.set(pool, nowMs);
    this.#parts.logger.info('spot capacity for a whole placement again', { pool });
    this.#write(this.#parts.ledger.closePool(pool));
  }

  /** It spares waiting and nothing depends on it: the next renewal, or its end, mends what fails. */
  #write(written: Promise<void>): void {
    written.catch((thrown: unknown) => {
      this.#parts.logger.debug('breaker of a placement not written', { error: asError(thrown) });
    });
  }
}

/** No longer than it waited for its turn: something else may hold it, a pause or a window, and not the capacity. */
const hasTurn = (
  { probedAtMs, backoffMs }: Extract<Breaker, { state: 'half-open' }>,
  nowMs: number,
): boolean => nowMs < probedAtMs + backoffMs;

function areClose(openedAtMs: readonly number[]): boolean {
  const latest = openedAtMs.toSorted((a, b) => b - a);
  const [last] = latest;
  const third = latest[WORKLOADS - 1];
  return last !== undefined && third !== undefined && last - third <= MINUTE_MS;
}
