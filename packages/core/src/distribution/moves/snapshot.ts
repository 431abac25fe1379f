import type { Placement } from '../../capacity/placement.ts';
import type { CapacityType } from '../../capacity/type.ts';
import type { Backoff, Breaker, Permit } from '../droughts/breaker.ts';
import type { DroughtReport } from '../droughts/bulletin.ts';
import type { Managed } from '../../policy/managed.ts';
import type { PlaceholderEvidence } from '../../proof/evidence.ts';
import type { DisruptionWindow, PolicyReading } from '../../policy/policy.ts';
import type { Nodes } from '../../cluster/node.ts';
import type { PdbView } from '../../cluster/pdb.ts';
import type { RefusalReason } from './verdict.ts';
import type { Deferral } from '../../disruption/register.ts';
import type { MoveHistory } from '../../disruption/cooldown.ts';
import type { WorkloadPod } from '../../cluster/workload-pod.ts';
import type { WorkloadView } from '../../cluster/workload.ts';

/** Everything that one decision about one workload rests on, read at one time. */
export interface RebalanceSnapshot {
  readonly managed: Managed;
  readonly policy: PolicyReading;
  readonly workload: WorkloadView;
  /** May hold more than the workload's own; ownership decides. */
  readonly pods: readonly WorkloadPod[];
  /** Those of its namespace. */
  readonly pdbs: readonly PdbView[];
  readonly history: MoveHistory | null;
  readonly budgets: BudgetUse;
  readonly nodes: Nodes;
  /** Those of this workload, by the type that they are for. */
  readonly placeholders: Readonly<Record<CapacityType, PlaceholderEvidence>>;
  readonly ledger: LedgerState;
  readonly webhook: WebhookState;
  /** What the API server refused lately. */
  readonly refused: { readonly evict: Refusal | null; readonly annotate: Refusal | null };
  /** Replacements to be seen to come through admission before another move may begin; null: one may begin. */
  readonly unseen: number | null;
  /** Pods were admitted by other `defaults` than those in force here; null: not as far as is known. */
  readonly otherDefaults: OtherDefaults | null;
  readonly drought: DroughtState;
  readonly settings: RebalanceSettings;
}

/** What the configuration says, worked out once. */
export interface RebalanceSettings {
  readonly readOnly: boolean;
  /** The window of the whole cluster, on top of the workload's own; null: always open. */
  readonly window: DisruptionWindow | null;
  readonly cooldownMs: number;
  readonly minPodAgeMs: number;
  readonly allowSingleReplica: boolean;
  readonly maxMovesPerMinute: number;
  readonly maxInFlight: Readonly<Record<'cluster' | 'namespace' | 'node' | 'workload', number>>;
  readonly placement: Placement;
  readonly fallback: {
    readonly maxRemovalsPerMinute: number;
    readonly backoff: Backoff;
  };
}

/** Whether workloads of the same placement found no capacity at the same time. */
export type PoolState =
  | { readonly kind: 'closed' }
  | { readonly kind: 'open' }
  /** There is capacity again, but until this time not every admission knows. */
  | { readonly kind: 'closing'; readonly untilMs: number };

/** What is known about the capacity that the workload's pods look for. */
export type DroughtState =
  /** Nobody looks: the ledger is out of reach. */
  | { readonly kind: 'unwatched' }
  /** The ledger is inside the webhook, where nobody else can open a breaker. */
  | { readonly kind: 'unbridgeable' }
  /** Somebody who does not ask the ledger goes by what the leading controller told. */
  | {
      readonly kind: 'told';
      /** Null: it told of none, so that the breaker is closed. */
      readonly report: DroughtReport | null;
      /** Others of the same placement are in a drought. */
      readonly poolIsOpen: boolean;
    }
  | {
      readonly kind: 'watched';
      readonly breaker: Breaker;
      /** It was written there. If it was not, the ledger may have lost it. */
      readonly recorded: boolean;
      readonly permit: Permit;
      /** One empty node of each shape seen lately. */
      readonly shapes: Nodes;
      readonly pool: PoolState;
      readonly mayProbe: boolean;
      /** What the removal of pods that wait in vain is waiting for, if it was asked for just now. */
      readonly deferral: Deferral | null;
    };

/**
 * `unreachable` closes the gate. A StatefulSet needs no ledger to be counted, but its admissions need the breaker, so
 * it waits all the same.
 */
export type LedgerState =
  | { readonly kind: 'reachable' }
  | { readonly kind: 'unreachable'; readonly code: string };

export type WebhookState =
  | { readonly kind: 'serving' }
  /** No ready endpoint, or the controller's own call to it failed. */
  | { readonly kind: 'notServing'; readonly detail: string }
  /** Three replacements in a row, in the whole cluster, came up without a reservation. */
  | {
      readonly kind: 'bypassed';
      /** When the last trial began; before the first, when the bypass was noticed. */
      readonly lastTrialAtMs: number;
    };

/** While they differ, one move at a time shows whether they still do. */
export interface OtherDefaults {
  /** Null: only the leader knows. */
  readonly nextTrialAtMs: number | null;
}

/** What was refused, and is not asked for again before its time. */
export interface Refusal {
  readonly reason: RefusalReason;
  /** In the words of the API server. */
  readonly message: string;
  readonly untilMs: number;
}

/** Disruptions under way that matter to the choice of a pod. */
export interface BudgetUse {
  /** Of the workload, by the same module or by a leader before this one. */
  readonly workload: number;
  /** By the name of the node that a victim was on. Absent: none. */
  readonly nodes: ReadonlyMap<string, number>;
  /** One of all, of the namespace or of the minute has nothing left, so that no move may begin now. */
  readonly spent: boolean;
}
