import {
  type Breaker,
  type Deferral,
  type DroughtState,
  type ObservedWorkload,
  type Placement,
  poolOf,
  readBreaker,
  type RebalanceSettings,
  writeMemo,
} from '@spotalis/core';
import type { Ledger, StoredBreaker } from '@spotalis/ledger';
import type { Logger } from '@spotalis/runtime';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';
import type { Bulletins } from './bulletin.ts';
import { Pools } from './pools.ts';
import type { Shapes } from './shapes.ts';

export interface DroughtsParts {
  readonly cluster: Cluster;
  readonly ledger: Pick<Ledger, 'setBreaker' | 'openPool' | 'closePool' | 'isPoolOpen'>;
  readonly shapes: Shapes;
  readonly bulletins: Pick<Bulletins, 'note' | 'forget'>;
  readonly logger: Logger;
}

/** What the leader knows of droughts beside the breakers, which are in the ledger. */
export class Droughts {
  readonly #parts: DroughtsParts;
  readonly #pools: Pools;

  constructor(parts: DroughtsParts) {
    this.#parts = parts;
    this.#pools = new Pools(parts);
  }

  /** Keeps up what is known of the workload's pool, in the ledger and in the bulletin. */
  observe(
    workload: ObservedWorkload,
    stored: StoredBreaker,
    { placement, fallback }: Pick<RebalanceSettings, 'placement' | 'fallback'>,
    nowMs: number,
  ): void {
    const breaker = readBreaker(stored, fallback.backoff.initialMs, nowMs);
    this.#note(workload, this.#poolOf(workload, placement), breaker, nowMs);
  }

  stateOf(
    workload: ObservedWorkload,
    stored: StoredBreaker,
    { placement, fallback }: Pick<RebalanceSettings, 'placement' | 'fallback'>,
    deferral: Deferral | null,
    nowMs: number,
  ): DroughtState {
    const { uid } = workload.metadata;
    const breaker = readBreaker(stored, fallback.backoff.initialMs, nowMs);
    const pool = this.#poolOf(workload, placement);
    return {
      kind: 'watched',
      breaker,
      recorded: stored.version > 0,
      permit: {
        permits: stored.state === 'half-open' ? stored.permits : 0,
        takenAtMs: stored.permitTakenAtMs ?? null,
      },
      shapes: this.#parts.shapes.views(),
      pool: this.#pools.stateOf(pool, nowMs),
      mayProbe: this.#pools.mayProbe(pool, uid),
      deferral,
    };
  }

  /** Returns whether it was written: not if somebody else was quicker. Throws as the ledger does. */
  async write(
    workload: ObservedWorkload,
    { breaker, permits }: { readonly breaker: Breaker; readonly permits: number },
    expected: StoredBreaker,
    placement: Placement,
    nowMs: number,
  ): Promise<boolean> {
    const memo = writeMemo(breaker);
    const { state } = breaker;
    const next = state === 'half-open' ? { state, permits, memo } : { state, memo };
    const { uid } = workload.metadata;
    const { kind } = await this.#parts.ledger.setBreaker(uid, next, expected.version);
    if (kind === 'written') this.#note(workload, this.#poolOf(workload, placement), breaker, nowMs);
    return kind === 'written';
  }

  forget(workloadUid: string, nowMs: number): void {
    this.#pools.forget(workloadUid, nowMs);
    this.#parts.bulletins.forget(workloadUid);
  }

  #note(workload: ObservedWorkload, pool: string, breaker: Breaker, nowMs: number): void {
    this.#pools.note(pool, workload.metadata.uid, breaker, nowMs);
    this.#parts.bulletins.note(workload, breaker, pool, (name) => this.#pools.isOpen(name));
  }

  #poolOf(workload: ObservedWorkload, placement: Placement): string {
    const { rollout } = workload;
    if (rollout.kind === 'StatefulSet') return poolOf(rollout.template.spec, placement);
    const newest = this.#parts.cluster.replicaSetsOf(workload).findLast(({ replicas }) => replicas > 0);
    return poolOf(newest?.template.spec ?? {}, placement);
  }
}
