import {
  type Deferral,
  type LedgerState,
  type ObservedWorkload,
  type PodCounts,
  type PolicyReading,
  type RebalanceSettings,
  type RebalanceSnapshot,
  snapshotOf,
  type WebhookState,
} from '@spotalis/core';
import type { StoredBreaker } from '@spotalis/ledger';
import type { Bypass } from '../webhook/bypass.ts';
import type { Holds } from '../../../kernel/disruption/holds.ts';
import type { Register } from '../../../kernel/disruption/register.ts';
import type { SharedDefaults } from '../webhook/shared-defaults.ts';
import type { Droughts } from '../droughts/droughts.ts';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';
import type { Rooms } from '../../../kernel/cluster/rooms.ts';
import type { Placeholders } from '../../../kernel/proof/placeholders.ts';
import type { RefusedAnnotations } from '../annotate/refused.ts';
import type { Changes } from './changes.ts';
import type { Moves } from './moves.ts';

/** What the ledgers of a workload hold, by the UID of the ReplicaSet; or why nobody can say. */
export type LedgerReading = LedgerState & {
  readonly counts: ReadonlyMap<string, PodCounts>;
  /** Null where nobody keeps one. */
  readonly breaker: StoredBreaker | null;
};

export interface SnapshotSources {
  readonly cluster: Cluster;
  readonly rooms: Rooms;
  readonly changes: Pick<Changes, 'note' | 'of' | 'forget'>;
  readonly register: Register;
  /** Whether no move of the namespace may begin now. */
  readonly isSpent: (namespace: string) => boolean;
  readonly holds: Pick<Holds, 'of'>;
  readonly refusedAnnotations: Pick<RefusedAnnotations, 'of'>;
  readonly moves: Pick<Moves, 'historyOf' | 'unproven'>;
  readonly bypass: Pick<Bypass, 'allows'>;
  readonly sharedDefaults: Pick<SharedDefaults, 'state'>;
  readonly placeholders: Pick<Placeholders, 'evidence'>;
  /** Undefined where the ledger is inside the webhook. */
  readonly droughts: Pick<Droughts, 'observe' | 'stateOf' | 'forget'> | undefined;
  readonly settings: () => RebalanceSettings;
  readonly webhook: () => WebhookState;
}

/**
 * What a look at a workload changes in what is known of others, before anything is decided: when it last changed, and
 * the pool of its drought. In read-only mode nobody keeps droughts, because that is written to the ledger.
 */
export function observe(
  { changes, droughts, ...sources }: Pick<SnapshotSources, 'changes' | 'droughts' | 'settings'>,
  workload: ObservedWorkload,
  policy: PolicyReading,
  ledger: LedgerReading,
  nowMs: number,
): void {
  const numbers = policy.kind === 'none' ? undefined : policy.numbers;
  changes.note(workload.metadata.uid, numbers, workload.replicas);
  const settings = sources.settings();
  if (droughts === undefined || ledger.breaker === null || settings.readOnly) return;
  droughts.observe(workload, ledger.breaker, settings, nowMs);
}

/**
 * Everything that one decision rests on, from the stores of one moment; it writes nothing. The workload is managed. `deferral`: what the
 * removals wait for that were asked for just now.
 */
export function takeSnapshot(
  sources: SnapshotSources,
  workload: ObservedWorkload,
  policy: PolicyReading,
  ledger: LedgerReading,
  nowMs: number,
  deferral: Deferral | null = null,
): RebalanceSnapshot {
  const { cluster, changes, register, moves, holds, bypass, rooms, placeholders, droughts } = sources;
  const settings = sources.settings();
  const unseen = moves.unproven(nowMs);
  const { uid, namespace = '' } = workload.metadata;
  return snapshotOf(cluster, workload, {
    managed: { managed: true },
    policy,
    changes: changes.of(uid),
    ledgers: ledger.counts,
    history: moves.historyOf(uid),
    budgets: { ...register.use(uid, 'distribution'), spent: sources.isSpent(namespace) },
    refused: {
      evict: holds.of(uid, nowMs) ?? null,
      annotate: sources.refusedAnnotations.of(uid, nowMs),
    },
    unseen: bypass.allows(unseen) ? null : unseen,
    otherDefaults: sources.sharedDefaults.state,
    nodes: rooms.views(register.promised()),
    placeholders: {
      spot: placeholders.evidence(uid, 'spot'),
      'on-demand': placeholders.evidence(uid, 'on-demand'),
    },
    ledger,
    webhook: sources.webhook(),
    drought:
      droughts === undefined
        ? { kind: 'unbridgeable' }
        : ledger.breaker === null || settings.readOnly
          ? { kind: 'unwatched' }
          : droughts.stateOf(workload, ledger.breaker, settings, deferral, nowMs),
    settings,
  });
}
