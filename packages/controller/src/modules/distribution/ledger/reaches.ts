import { type ObservedWorkload, reachOf, typesReached } from '@spotalis/core';
import { type Ledger, LedgerUnavailable, type VolumeReach } from '@spotalis/ledger';
import type { Shapes } from '../droughts/shapes.ts';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';
import type { Rooms } from '../../../kernel/cluster/rooms.ts';

/** A ledger that was emptied hears of it again after so long. */
const REPEAT_MS = 60_000;

export interface ReachesParts {
  readonly cluster: Cluster;
  readonly ledger: Pick<Ledger, 'setReach'>;
  readonly shapes: Pick<Shapes, 'views'>;
  readonly rooms: Pick<Rooms, 'views'>;
  readonly mayWrite: () => boolean;
  readonly now: () => number;
}

/** Tells the ledger which capacity the volumes of a StatefulSet's ordinals reach: their pods can go nowhere else. */
export class Reaches {
  readonly #parts: ReachesParts;
  readonly #told = new Map<string, { readonly text: string; readonly atMs: number }>();

  constructor(parts: ReachesParts) {
    this.#parts = parts;
  }

  /** Also of ordinals that were scaled away: they come back to the same volumes. */
  async tell(workload: ObservedWorkload): Promise<void> {
    const { ledger, mayWrite, now } = this.#parts;
    if (workload.rollout.kind !== 'StatefulSet' || workload.rollout.claimTemplates.length === 0) return;
    if (!mayWrite()) return;
    const { uid } = workload.metadata;
    const reaches = this.#reachesOf(workload, workload.rollout.claimTemplates);
    const text = JSON.stringify([...reaches]);
    const told = this.#told.get(uid);
    if (told?.text === text && now() - told.atMs < REPEAT_MS) return;
    // Nothing to say, and nothing to take back.
    if (told === undefined && reaches.size === 0) return;
    try {
      await ledger.setReach(uid, reaches);
      this.#told.set(uid, { text, atMs: now() });
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
    }
  }

  /** The workload is gone, or not ours any more. */
  forget(workloadUid: string): void {
    this.#told.delete(workloadUid);
  }

  #reachesOf(
    { metadata }: ObservedWorkload,
    claimTemplates: readonly string[],
  ): ReadonlyMap<number, VolumeReach> {
    const { cluster, shapes, rooms } = this.#parts;
    // A local volume is on one node, and only its own name tells which.
    const nodes = {
      *values() {
        yield* shapes.views().values();
        yield* rooms.views(new Map()).values();
      },
    };
    const { namespace = '', name } = metadata;
    const claims = new Map<number, string[]>();
    for (const { metadata: its } of cluster.claims.by('namespace', namespace)) {
      for (const template of claimTemplates) {
        const start = `${template}-${name}-`;
        const ordinal = its.name.startsWith(start) ? its.name.slice(start.length) : '';
        if (!/^\d{1,9}$/.test(ordinal)) continue;
        claims.set(Number(ordinal), [...(claims.get(Number(ordinal)) ?? []), its.name]);
      }
    }
    const reaches = new Map<number, VolumeReach>();
    for (const [ordinal, names] of [...claims].toSorted(([a], [b]) => a - b)) {
      const reach = typesReached(reachOf(namespace, names, cluster), nodes);
      if (reach !== 'both') reaches.set(ordinal, reach);
    }
    return reaches;
  }
}
