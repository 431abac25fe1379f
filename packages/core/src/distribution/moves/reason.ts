import { sharedReasons, type SharedTraits } from '../../disruption/reason.ts';
import { type Wait, waitOrder } from '../droughts/waiting.ts';
import type { RebalanceReason } from './verdict.ts';

/** The Event on a reason that lasts. */
export interface Alert {
  readonly event:
    | 'MoveBlocked'
    | 'OnDemandShort'
    | 'NoFallback'
    | 'PodsUnscheduled'
    | 'PlacementOverridden'
    | 'PlacementConflict';
  readonly afterMs: number;
  /** Also where the counts are right: nothing else tells of it. */
  readonly always?: true;
}

/** What holds of a reason, whatever workload it is about. */
export interface ReasonTraits extends SharedTraits {
  /**
   * Null: it comes and goes with each move, was asked for, or holds nothing. Then it does not end an Event's reason
   * that was there before it either.
   */
  readonly alerts: Alert | null;
  /** All is as it should be. */
  readonly calm?: true;
  /** Pods without a node that the sentence on it speaks of itself. */
  readonly tells?: readonly Wait[];
}

/** A block that is gone before this was only the cluster catching up. */
const LASTING_MS = 5_000;
/** In each burst on an autoscaled cluster pods wait for a node that is being made. */
const LASTING_FOR_A_NODE_MS = 60_000;

/** Kubelets write a changed ConfigMap into pods within two minutes. */
const LASTING_RELOAD_MS = 300_000;

const blocked: Alert = { event: 'MoveBlocked', afterMs: LASTING_MS };

/**
 * The one place that says what a reason is like: no other list of reasons is kept.
 *
 * In the order in which they are looked for, but for the last four, which are reasons of moves. `PlacementConflict`
 * is looked for after `NoFallback` already where the pods allow neither type and no drift shows it.
 */
export const reasonTraits: Readonly<Record<RebalanceReason, ReasonTraits>> = {
  Unmanaged: {
    means: 'a label is missing, or the namespace is outside of `scope`',
    remedy: 'where it is not meant so: [opting in](annotations.md#opting-in)',
    alerts: null,
  },
  NoPolicy: {
    means: 'both labels, and neither of the two numbers',
    remedy: 'set one of them: [the policy](annotations.md#the-policy)',
    alerts: null,
  },
  InvalidPolicy: {
    means: 'a value cannot be read: no pod is moved',
    remedy: 'correct it; the Event names key, value and a valid example',
    alerts: blocked,
  },
  ReadOnly: sharedReasons.ReadOnly,
  FallbackStarted: {
    means: 'pods waited for spot capacity in vain: substitutes on on-demand take their place',
    remedy: 'where it lasts: [SpotalisDroughtLasting](runbooks.md#spotalisdroughtlasting)',
    alerts: null,
    tells: ['SpotCapacity'],
  },
  FallbackFound: {
    means: 'the ledger had lost a drought, and the substitutes tell of it: noted again',
    remedy: null,
    alerts: null,
  },
  FallbackGoesOn: {
    means: 'spot was tried again in vain: the next try is after a longer pause',
    remedy: null,
    alerts: null,
  },
  StuckRemoved: {
    means: 'in a drought, further pods that wait for spot are replaced by substitutes',
    remedy: null,
    alerts: null,
    tells: ['SpotCapacity'],
  },
  ReturnTried: {
    means: 'there is a sign of spot capacity, or the pause is over: spot is tried again',
    remedy: null,
    alerts: null,
    passes: true,
  },
  ReturnGoesOn: {
    means: 'the return to spot goes well, and goes on',
    remedy: null,
    alerts: null,
    passes: true,
  },
  FallbackEnded: {
    means: 'the drought is over or no longer affects this workload, or `spot-fallback-after` is now `never`',
    remedy: null,
    alerts: null,
  },
  NodeDiffers: {
    means: 'pods run on nodes of the other type than they were admitted for: their annotations are corrected',
    remedy: null,
    alerts: null,
    passes: true,
  },
  CostOrder: {
    means: 'ranks and deletion costs are written anew, so that scale-downs keep the share',
    remedy: null,
    alerts: null,
    passes: true,
    calm: true,
  },
  OnDemandShort: {
    means: 'pods for on-demand have no node; they are not sent to spot instead',
    remedy: 'add on-demand nodes',
    alerts: { event: 'OnDemandShort', afterMs: LASTING_FOR_A_NODE_MS, always: true },
    tells: ['OnDemandCapacity'],
  },
  NoFallback: {
    means: 'pods for spot have no node, and with `memory://` there are no substitutes',
    remedy: 'give both services a Redis, or add spot nodes',
    alerts: { event: 'NoFallback', afterMs: LASTING_MS, always: true },
    tells: ['SpotCapacity', 'SpotOnly', 'VolumeUnreachable', 'NoSuchNode'],
  },
  PodsUnscheduled: {
    means:
      'pods have had no node for a minute, and no substitute would help: no node that is known could take them, their affinity allows spot only, a volume or a scheduling gate holds them, or no scheduler looks at them',
    remedy: '`explain` says which; `kubectl describe pod` has the words of the scheduler',
    alerts: { event: 'PodsUnscheduled', afterMs: LASTING_MS, always: true },
    tells: waitOrder.filter((wait) => wait !== 'SpotCapacity'),
  },
  PlacementOverridden: {
    means:
      'three replacements in a row were admitted to one type, and another webhook or policy sent them to the other: no pod is evicted for that any more, until a pod stays where it is sent or another controller leads',
    remedy:
      'exclude the workload from the other webhook, then `kubectl rollout restart`; `explain` names the field',
    alerts: { event: 'PlacementOverridden', afterMs: LASTING_MS, always: true },
  },
  Paused: {
    means: '`spotalis.io/paused` is set',
    remedy: null,
    alerts: null,
    postpones: true,
  },
  LedgerUnreachable: {
    means: 'the controller does not reach Redis',
    remedy: '[SpotalisLedgerDegraded](runbooks.md#spotalisledgerdegraded)',
    alerts: blocked,
    passes: true,
  },
  WebhookNotServing: {
    means: "the leader's own call to the webhook fails",
    remedy: '[SpotalisWebhookUnreachable](runbooks.md#spotaliswebhookunreachable)',
    alerts: blocked,
    passes: true,
  },
  WebhookBypassed: {
    means:
      'the webhook serves the leader, yet three replacements in a row were created past it; one move in ten minutes tries whether that has ended',
    remedy:
      'see why an API server does not reach the webhook: [SpotalisWebhookUnreachable](runbooks.md#spotaliswebhookunreachable)',
    alerts: blocked,
  },
  WorkloadDeleted: {
    means: 'the workload is being deleted',
    remedy: null,
    alerts: null,
  },
  RolloutPaused: {
    means: 'its rollout is paused',
    remedy: '`kubectl rollout resume`, when you like',
    alerts: null,
    postpones: true,
  },
  GenerationBehind: {
    means: 'its own controller has not seen the last change of it',
    remedy: 'where it lasts: see the kube-controller-manager',
    alerts: null,
  },
  RolloutInProgress: {
    means: 'a rollout is in progress',
    remedy: 'where it is stuck: `kubectl rollout status` says why',
    alerts: null,
  },
  MoveInFlight: {
    means: 'the replacement of the last move is not Ready yet',
    remedy: null,
    alerts: null,
    passes: true,
  },
  Cooldown: {
    means: '`rebalance.cooldown` after a move, longer after moves that failed',
    remedy: null,
    alerts: null,
    passes: true,
    endsInTime: true,
  },
  WindowClosed: sharedReasons.WindowClosed,
  AwaitingSpot: {
    means: 'pods wait for spot capacity, not yet for `spot-fallback-after`, or that is `never`',
    remedy: null,
    alerts: null,
    tells: ['SpotCapacity'],
  },
  Balanced: {
    means: 'as the policy says',
    remedy: null,
    alerts: null,
    calm: true,
  },
  InDrought: {
    means: 'spot pods are missing, and there is no spot capacity',
    remedy: 'where it lasts: [SpotalisDroughtLasting](runbooks.md#spotalisdroughtlasting)',
    alerts: null,
    postpones: true,
  },
  ReturnUnderWay: {
    means: 'the pod that was sent to spot last is not seen to run there yet',
    remedy: null,
    alerts: null,
    postpones: true,
    passes: true,
  },
  Settling: {
    means: 'policy, replicas or pods changed within three seconds',
    remedy: null,
    alerts: null,
    passes: true,
    endsInTime: true,
  },
  PodsMissing: {
    means:
      'there are more pods than are wanted, or for less than a minute fewer; after that, those that are there are moved as usual',
    remedy: null,
    alerts: null,
    passes: true,
  },
  LedgerDiffers: {
    means:
      'the ledger does not agree with the pods; it is compared with a LIST after 10 seconds, then ever more seldom up to every 10 minutes',
    remedy: 'where `explain` names pods that share a reservation: delete all but one of them',
    alerts: null,
    passes: true,
  },
  PlacementConflict: {
    means:
      "the template's own required affinity, or a selector, rules out the type that there is too little of, or both types: then pods are left as they are",
    remedy: 'loosen it, or ask for 0 or 100 percent',
    alerts: { event: 'PlacementConflict', afterMs: LASTING_MS, always: true },
  },
  NotProvable: {
    means:
      'the template has a `hostPort`, required podAffinity, or required podAntiAffinity to other pods: that a node takes a replacement cannot be proven, so its pods are never moved',
    remedy: '`kubectl rollout restart`: new pods are placed as the policy says',
    alerts: blocked,
  },
  NoCapacity: {
    means: 'no node of the wanted type is seen to have room; a placeholder may be asking for one',
    remedy: '`explain` says what keeps a pod off the nodes there are; add nodes, or let an autoscaler',
    alerts: blocked,
    passes: true,
  },
  SingleReplica: {
    means: 'the only replica of a workload is not moved',
    remedy: '`rebalance.allowSingleReplica: true`, or `kubectl rollout restart`',
    alerts: blocked,
  },
  OthersNotReady: {
    means: 'an OrderedReady StatefulSet moves a pod only while all others are Ready',
    remedy: 'see why those that `explain` names are not',
    alerts: blocked,
    passes: true,
  },
  NotAvailable: {
    means: 'one more pod away would be more than `maxUnavailable` of the rollout strategy (at least one)',
    remedy:
      "see why pods are not available; where `explain` says that pods do not exist: the Events of the workload's ReplicaSet or StatefulSet, such as a quota",
    alerts: blocked,
    passes: true,
  },
  FloorAtRisk: {
    means: 'too few on-demand pods have a node for one of them to leave',
    remedy: 'add on-demand nodes',
    alerts: blocked,
  },
  NoCandidate: {
    means: 'none of the pods may be moved',
    remedy: '`explain` says of each why: an annotation, its age, its volume, its node, its ordinal',
    alerts: blocked,
    endsInTime: true,
  },
  TwoPdbs: {
    means: 'more than one PodDisruptionBudget selects the pod, and such pods cannot be evicted',
    remedy: 'leave one of them',
    alerts: blocked,
  },
  PdbBehind: {
    means: "a PodDisruptionBudget's status does not follow its spec yet",
    remedy: null,
    alerts: null,
    passes: true,
  },
  PdbBlocks: {
    means: 'a PodDisruptionBudget allows no eviction now',
    remedy: 'where it never does, relax it',
    alerts: blocked,
  },
  EvictionRefused: {
    means:
      'a PodDisruptionBudget allowed no eviction at that moment, the API server was busy, or the pod had changed: asked again after a while',
    remedy: 'where it lasts: the Event has the words of the API server',
    alerts: blocked,
    passes: true,
  },
  EvictionForbidden: {
    means:
      'the controller may not evict the pod, or an admission policy of yours forbids it: asked again after a longer while each time',
    remedy: '`kubectl spotalis doctor` tells of rights that are missing',
    alerts: blocked,
    passes: true,
  },
  EvictionFailed: {
    means:
      'the API server answered an eviction with an error, or not in time: asked again after a longer while each time',
    remedy: 'where it lasts: the Event has its words',
    alerts: blocked,
    passes: true,
  },
  AnnotationRefused: {
    means:
      'an admission policy or webhook forbids the controller to write the capacity type and deletion cost on a pod; while the type is wrong, no pod of the workload is moved. Asked again after a longer while each time',
    remedy: 'allow the controller to change annotations of pods; the Event has the words of the API server',
    alerts: { ...blocked, always: true },
    passes: true,
  },
  DefaultsDiffer: {
    means:
      "`defaults` changed here, or a replacement was admitted by others, and no replacement has shown since that the webhooks have the leader's: workloads that rely on `defaults` are not moved, except for one trial after a minute, then at growing intervals up to 10 minutes",
    remedy:
      'a changed file reaches all processes within minutes. Where it lasts: give controllers and webhooks the same `defaults` ([configuration](configuration.md))',
    alerts: { event: 'MoveBlocked', afterMs: LASTING_RELOAD_MS },
    passes: true,
    endsInTime: true,
  },
  ReplacementsUnseen: {
    means:
      'the replacements of moves in the whole cluster are still to be seen to come through the webhook: until then no more pods go than may be lost to a webhook that is passed by',
    remedy: null,
    alerts: null,
    passes: true,
  },
  TakingOver: sharedReasons.TakingOver,
  WorkloadBusy: sharedReasons.WorkloadBusy,
  BudgetSpent: sharedReasons.BudgetSpent,
  FloorShort: {
    means: 'a pod is moved to on-demand, because the floor is not met',
    remedy: null,
    alerts: null,
  },
  FloorOrdinal: {
    means:
      'a pod of a StatefulSet is moved to on-demand although the share is right: a scale-down keeps the lowest ordinals, and the floor needs this one',
    remedy: null,
    alerts: null,
  },
  SpotSurplus: {
    means: 'a pod is moved to on-demand, because spot has too many',
    remedy: null,
    alerts: null,
  },
  OnDemandSurplus: {
    means: 'a pod is moved to spot, because on-demand has too many',
    remedy: null,
    alerts: null,
  },
};

const isReason = (name: string): name is RebalanceReason => name in reasonTraits;

export const rebalanceReasons: readonly RebalanceReason[] = Object.keys(reasonTraits).filter(isReason);
