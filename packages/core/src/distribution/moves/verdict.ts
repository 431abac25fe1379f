import type { CapacityType } from '../../capacity/type.ts';
import type { Misfits } from '../../cluster/fit.ts';
import type { PodReference } from '../../cluster/reference.ts';
import type { ModuleName } from '../../disruption/intent.ts';
import type { PodCounts, PolicyNumbers, TypeCounts } from '../../policy/target.ts';
import type { Breaker } from '../droughts/breaker.ts';
import type { WaitCounts } from '../droughts/lasting.ts';
import type { UnmanagedReason } from '../../policy/managed.ts';
import type { PlaceholderEvidence } from '../../proof/evidence.ts';
import type { PlaceholderShape } from '../../proof/shape.ts';
import type { Doom } from '../../cluster/workload-pod.ts';

/** What is to be done about a workload now: at most one of these. */
export type Verdict =
  /** Look again when something changes. */
  | { readonly kind: 'nothing' }
  /** Look again at this time, or when something changes. */
  | { readonly kind: 'wait'; readonly untilMs: number }
  /** Have a placeholder of this shape prove that there is capacity, since no node has room. */
  | { readonly kind: 'prove'; readonly to: CapacityType; readonly shape: PlaceholderShape }
  /** Evict one pod. */
  | { readonly kind: 'move'; readonly move: Move }
  /** Write the breaker, if anything, and then remove these pods, which wait for spot capacity in vain. */
  | {
      readonly kind: 'bridge';
      readonly next: { readonly breaker: Breaker; readonly permits: number } | null;
      readonly remove: readonly StuckReference[];
    }
  /** Write the type that the node has, and a rank of that type, on these pods. */
  | { readonly kind: 'correct'; readonly corrections: readonly Correction[] }
  /** Write other ranks and deletion costs on these pods. */
  | { readonly kind: 'renumber'; readonly renumberings: readonly Renumbering[] };

export interface StuckReference extends PodReference {
  /** Since when it has waited for a node. */
  readonly sinceMs: number;
}

export interface Move {
  readonly pod: PodReference;
  readonly from: CapacityType;
  readonly to: CapacityType;
  /** The node it is on; null for a pod that never got one. */
  readonly node: string | null;
  /** A node that its replacement would fit on now. */
  readonly evidence: string;
  /** The one PDB that selects it. */
  readonly pdb: string | null;
  /** Made to see whether the webhook is in the way of admissions again. */
  readonly trial: boolean;
}

export interface Correction {
  readonly pod: PodReference;
  readonly type: CapacityType;
  /** Null for StatefulSets, whose ordinals decide. */
  readonly rank: number | null;
  /** Null where the cost is not ours to write: StatefulSets, and a cost that the template brings along. */
  readonly cost: number | null;
}

export interface Renumbering {
  readonly pod: PodReference;
  readonly type: CapacityType;
  readonly rank: number;
  readonly cost: number;
}

/** How the workload stands against its policy. */
export interface Standing {
  readonly numbers: PolicyNumbers;
  readonly replicas: number;
  readonly counts: TypeCounts;
  /** Pods that neither their node nor admission gave a type. */
  readonly untyped: number;
  /** Pods on nodes without a recognised label. */
  readonly onUnknownNodes: number;
  /** How many pods should be on spot. */
  readonly target: number;
  /** Moves needed: spot pods too many above 0, too few below. */
  readonly drift: number;
  /** Only of a StatefulSet. */
  readonly ordinals?: OrdinalStanding;
}

export interface OrdinalStanding {
  /** Spot pods on ordinals that the floor needs on on-demand after a scale-down. They are moved whatever the drift. */
  readonly belowFloor: number;
  /** The smaller size at which most pods would be on the wrong type, and how many; null: none at any. */
  readonly worst: { readonly replicas: number; readonly off: number } | null;
}

/** Why a pod of the surplus type was not chosen. */
export type ExclusionReason =
  | 'DoNotMove'
  | 'DoNotDisrupt'
  | 'NotSafeToEvict'
  | 'TooYoung'
  | 'SystemCritical'
  | 'MirrorPod'
  | 'UnknownNode'
  | 'SlotKeepsType'
  | 'VolumeUnknown'
  | 'VolumeUnreachable'
  | 'NoFit';

export interface Exclusion {
  readonly pod: string;
  readonly reason: ExclusionReason;
  /** When this alone would be over; null: no time is known. */
  readonly untilMs: number | null;
}

/** What a person needs to know beside the reason. By reason, so that none can be forgotten. */
export interface FactsByReason {
  Unmanaged: { readonly why: UnmanagedReason };
  NoPolicy: object;
  InvalidPolicy: { readonly messages: readonly string[] };
  ReadOnly: object;
  NodeDiffers: { readonly pods: readonly string[] };
  FallbackStarted: {
    readonly waiting: number;
    readonly sinceMs: number;
    readonly removed: number;
    /** Others had found out before. */
    readonly told: boolean;
    readonly nextProbeAtMs: number;
  };
  FallbackFound: { readonly substitutes: number; readonly nextProbeAtMs: number };
  FallbackGoesOn: { readonly removed: number; readonly nextProbeAtMs: number };
  StuckRemoved: { readonly removed: number; readonly waiting: number };
  ReturnTried: { readonly by: 'room' | 'placeholder' | 'admission'; readonly substitutes: number };
  ReturnGoesOn: { readonly substitutes: number };
  FallbackEnded: {
    /** `left`, `waived`: not because there would be capacity again. */
    readonly how: 'closed' | 'left' | 'waived';
    readonly sinceMs: number;
    /** Since when there were signs of capacity; null: it ended without. */
    readonly returnedSinceMs: number | null;
  };
  Paused: object;
  LedgerUnreachable: { readonly code: string };
  WebhookNotServing: { readonly detail: string };
  WebhookBypassed: { readonly nextTrialAtMs: number };
  WorkloadDeleted: object;
  RolloutPaused: object;
  GenerationBehind: { readonly generation: number; readonly observedGeneration: number };
  RolloutInProgress: {
    readonly activeRevisions: number;
    readonly updated: number;
    readonly wanted: number;
  };
  MoveInFlight: { readonly inFlight: number };
  Cooldown: { readonly untilMs: number; readonly failures: number };
  WindowClosed: {
    readonly window: 'workload' | 'cluster' | 'both';
    /** Null: the two windows do not meet within a year. */
    readonly opensAtMs: number | null;
  };
  OnDemandShort: { readonly waiting: number; readonly scheduled: number; readonly floor: number };
  AwaitingSpot: {
    readonly waiting: number;
    /** `spot`: the policy wants no substitutes. `fault`: the time is not over after which it is `NoFallback`. */
    readonly until: 'substitutes' | 'spot' | 'fault';
  };
  /** Pods have waited for spot capacity long enough, and nothing could make substitutes of them. */
  NoFallback: { readonly waiting: number };
  /** Pods have no node, and neither a substitute nor a move would get them one. */
  PodsUnscheduled: { readonly waits: WaitCounts };
  /** Somebody changes pods after their admission, so that moves are in vain. */
  PlacementOverridden: {
    readonly failures: number;
    readonly to: CapacityType;
    /** The field and what became of it. */
    readonly override: string;
  };
  Balanced: object;
  InDrought: {
    /** Null: known from other workloads. */
    readonly sinceMs: number | null;
    readonly nextProbeAtMs: number | null;
  };
  ReturnUnderWay: object;
  CostOrder: { readonly pods: number };
  Settling: { readonly untilMs: number; readonly change: 'policy' | 'replicas' | 'pods' };
  PodsMissing: { readonly pods: number; readonly wanted: number };
  LedgerDiffers: {
    readonly ledger: PodCounts | null;
    /** Pods that carry the same reservation as another one, which the ledger can count only once. */
    readonly sharing: readonly string[];
  };
  PlacementConflict: {
    /** Null: the pods allow neither type. */
    readonly to: CapacityType | null;
  };
  NoCapacity: {
    readonly to: CapacityType;
    readonly placeholder: PlaceholderEvidence;
  } & Misfits;
  NotProvable: { readonly to: CapacityType; readonly constraint: string };
  SingleReplica: object;
  OthersNotReady: { readonly pods: readonly string[] };
  NotAvailable: {
    readonly available: number;
    readonly needed: number;
    /** Wanted, and not even created. */
    readonly missing: number;
  };
  FloorAtRisk: { readonly scheduled: number; readonly floor: number };
  NoCandidate: { readonly exclusions: readonly Exclusion[] };
  TwoPdbs: { readonly pod: string; readonly pdbs: readonly string[] };
  PdbBehind: { readonly pod: string; readonly pdb: string };
  PdbBlocks: {
    readonly pod: string;
    readonly pdb: string;
    readonly healthy: number;
    readonly needed: number;
    /** It asks for as many healthy pods as there are. */
    readonly never: boolean;
  };
  EvictionRefused: { readonly message: string };
  EvictionForbidden: { readonly message: string };
  EvictionFailed: { readonly message: string };
  AnnotationRefused: { readonly message: string };
  DefaultsDiffer: {
    /** Null: only the leader knows. */
    readonly nextTrialAtMs: number | null;
  };
  ReplacementsUnseen: { readonly unseen: number };
  WorkloadBusy: {
    /** Null: a leader before this one began it. */
    readonly by: ModuleName | null;
    readonly sinceMs: number;
  };
  TakingOver: object;
  BudgetSpent: {
    readonly budget: 'cluster' | 'namespace' | 'node' | 'minute' | 'removals';
    readonly used: number;
    readonly limit: number;
  };
  FloorShort: MoveFacts;
  FloorOrdinal: MoveFacts;
  SpotSurplus: MoveFacts;
  OnDemandSurplus: MoveFacts;
}

export interface MoveFacts {
  readonly pod: string;
  readonly from: CapacityType;
  readonly to: CapacityType;
  readonly node: string | null;
  readonly evidence: string;
  readonly doom: Doom | null;
  readonly ready: boolean;
}

export type RebalanceReason = keyof FactsByReason;

/** Why the API server is not asked again yet. */
export type RefusalReason = 'EvictionRefused' | 'EvictionForbidden' | 'EvictionFailed' | 'AnnotationRefused';

/** A decision for one reason. */
export interface DecidedFor<Reason extends RebalanceReason> {
  readonly reason: Reason;
  readonly facts: FactsByReason[Reason];
  readonly verdict: Verdict;
}

export type Decided = { [Reason in RebalanceReason]: DecidedFor<Reason> }[RebalanceReason];

/** What was decided and why: the one value that logs, Events, metrics and `explain` show. */
export type RebalanceTrace = Decided & {
  /** Null where there is no policy to stand against. */
  readonly standing: Standing | null;
  /** As it was found; null where nobody watches it. */
  readonly drought: Breaker['state'] | null;
  /** Pods that have been without a node for a minute, whatever the reason. */
  readonly waiting: WaitCounts;
};

/** Nothing is done for this reason, until `untilMs` if a time is known that could change it. */
export function held<Reason extends RebalanceReason>(
  reason: Reason,
  facts: FactsByReason[Reason],
  untilMs: number | null = null,
): DecidedFor<Reason> {
  const verdict: Verdict = untilMs === null ? { kind: 'nothing' } : { kind: 'wait', untilMs };
  return { reason, facts, verdict };
}
