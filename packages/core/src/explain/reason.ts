import type { RebalanceReason } from '../rebalance/verdict.ts';

/** One reason, whatever workload it is about. */
export interface ReasonMeaning {
  readonly means: string;
  /** What to do about it; none where it is as it should be, or ends by itself. */
  readonly remedy?: string;
}

/** For docs/reasons.md; the sentence on one decision with its facts is `explainRebalance`. */
export const reasonMeanings: Readonly<Record<RebalanceReason, ReasonMeaning>> = {
  Unmanaged: {
    means: 'a label is missing, or the namespace is outside of `scope`',
    remedy: 'where it is not meant so: [opting in](annotations.md#opting-in)',
  },
  NoPolicy: {
    means: 'both labels, and neither of the two numbers',
    remedy: 'set one of them: [the policy](annotations.md#the-policy)',
  },
  InvalidPolicy: {
    means: 'a value cannot be read: no pod is moved',
    remedy: 'correct it; the Event names key, value and a valid example',
  },
  ReadOnly: { means: '`readOnlyMode` is on: decided, and nothing written' },
  NodeDiffers: {
    means: 'pods run on nodes of the other type than they were admitted for: their annotations are corrected',
  },
  FallbackStarted: {
    means: 'pods waited for spot capacity in vain: substitutes on on-demand take their place',
    remedy: 'where it lasts: [SpotalisDroughtLasting](runbooks.md#spotalisdroughtlasting)',
  },
  FallbackFound: { means: 'the ledger had lost a drought, and the substitutes tell of it: noted again' },
  FallbackGoesOn: { means: 'spot was tried again in vain: the next try is after a longer pause' },
  StuckRemoved: { means: 'in a drought, further pods that wait for spot are replaced by substitutes' },
  ReturnTried: { means: 'there is a sign of spot capacity, or the pause is over: spot is tried again' },
  ReturnGoesOn: { means: 'the return to spot goes well, and goes on' },
  FallbackEnded: {
    means: 'the drought is over, or of no matter here any more, or `spot-fallback-after` is `never` now',
  },
  CostOrder: { means: 'ranks and deletion costs are written anew, so that scale-downs keep the share' },
  Paused: { means: '`spotalis.io/paused` is set' },
  LedgerUnreachable: {
    means: 'the controller does not reach Redis',
    remedy: '[SpotalisLedgerDegraded](runbooks.md#spotalisledgerdegraded)',
  },
  WebhookNotServing: {
    means: "the leader's own call to the webhook fails",
    remedy: '[SpotalisWebhookUnreachable](runbooks.md#spotaliswebhookunreachable)',
  },
  WebhookBypassed: {
    means:
      'the webhook serves the leader, yet three replacements in a row were created past it; one move in ten minutes tries whether that has ended',
    remedy:
      'see why an API server does not reach the webhook: [SpotalisWebhookUnreachable](runbooks.md#spotaliswebhookunreachable)',
  },
  WorkloadDeleted: { means: 'the workload is being deleted' },
  RolloutPaused: { means: 'its rollout is paused', remedy: '`kubectl rollout resume`, when you like' },
  GenerationBehind: {
    means: 'its own controller has not seen the last change of it',
    remedy: 'where it lasts: see the kube-controller-manager',
  },
  RolloutInProgress: {
    means: 'a rollout is in progress',
    remedy: 'where it is stuck: `kubectl rollout status` says why',
  },
  MoveInFlight: { means: 'the replacement of the last move is not Ready yet' },
  Cooldown: { means: '`rebalance.cooldown` after a move, longer after moves that failed' },
  WindowClosed: {
    means: "outside of the workload's window, or of the configuration's",
    remedy: '`explain` says when both are open',
  },
  OnDemandShort: {
    means: 'pods for on-demand have no node; they are not sent to spot instead',
    remedy: 'add on-demand nodes',
  },
  NoFallback: {
    means: 'pods for spot have no node, and with `memory://` there are no substitutes',
    remedy: 'give both services a Redis, or add spot nodes',
  },
  PodsUnscheduled: {
    means:
      'pods have had no node for a minute, and no substitute would help: no node that is known could take them, their affinity allows spot only, a volume or a scheduling gate holds them, or no scheduler looks at them',
    remedy: '`explain` says which; `kubectl describe pod` has the words of the scheduler',
  },
  PlacementOverridden: {
    means:
      'three replacements in a row were admitted to one type, and another webhook or policy sent them to the other: no pod is evicted for that any more, until a pod stays where it is sent or another controller leads',
    remedy:
      'exclude the workload from the other webhook, then `kubectl rollout restart`; `explain` names the field',
  },
  AwaitingSpot: {
    means: 'pods wait for spot capacity, not yet for `spot-fallback-after`, or that is `never`',
  },
  Balanced: { means: 'as the policy says' },
  InDrought: {
    means: 'spot pods are missing, and there is no spot capacity',
    remedy: 'where it lasts: [SpotalisDroughtLasting](runbooks.md#spotalisdroughtlasting)',
  },
  ReturnUnderWay: { means: 'the pod that was sent to spot last is not seen to run there yet' },
  Settling: { means: 'policy, replicas or pods changed within three seconds' },
  PodsMissing: {
    means:
      'there are more pods than are wanted, or for less than a minute fewer; after that, those that are there are moved as usual',
  },
  LedgerDiffers: {
    means:
      'the ledger does not agree with the pods; it is compared with a LIST after 10 seconds, then ever more seldom up to every 10 minutes',
    remedy: 'where `explain` names pods that share a reservation: delete all but one of them',
  },
  PlacementConflict: {
    means:
      "the template's own required affinity, or a selector, rules out the type that there is too little of, or both types: then pods are left as they are",
    remedy: 'loosen it, or ask for 0 or 100 percent',
  },
  NotProvable: {
    means:
      'the template has a `hostPort`, required podAffinity, or required podAntiAffinity to other pods: that a node takes a replacement cannot be proven, so its pods are never moved',
    remedy: '`kubectl rollout restart`: new pods are placed as the policy says',
  },
  NoCapacity: {
    means: 'no node of the wanted type is seen to have room; a placeholder may be asking for one',
    remedy: '`explain` says what keeps a pod off the nodes there are; add nodes, or let an autoscaler',
  },
  SingleReplica: {
    means: 'the only replica of a workload is not moved',
    remedy: '`rebalance.allowSingleReplica: true`, or `kubectl rollout restart`',
  },
  OthersNotReady: {
    means: 'an OrderedReady StatefulSet moves a pod only while all others are Ready',
    remedy: 'see why those that `explain` names are not',
  },
  NotAvailable: {
    means: 'one more pod away would be more than `maxUnavailable` of the rollout strategy (at least one)',
    remedy:
      "see why pods are not available; where `explain` says that pods do not exist: the Events of the workload's ReplicaSet or StatefulSet, such as a quota",
  },
  FloorAtRisk: {
    means: 'too few on-demand pods have a node for one of them to leave',
    remedy: 'add on-demand nodes',
  },
  NoCandidate: {
    means: 'none of the pods may be moved',
    remedy: '`explain` says of each why: an annotation, its age, its volume, its node, its ordinal',
  },
  TwoPdbs: {
    means: 'more than one PodDisruptionBudget selects the pod, and such pods cannot be evicted',
    remedy: 'leave one of them',
  },
  PdbBehind: { means: "a PodDisruptionBudget's status does not follow its spec yet" },
  PdbBlocks: {
    means: 'a PodDisruptionBudget allows no eviction now',
    remedy: 'where it never does, relax it',
  },
  EvictionRefused: {
    means:
      'a PodDisruptionBudget allowed no eviction at that moment, the API server was busy, or the pod had changed: asked again after a while',
  },
  EvictionForbidden: {
    means:
      'the controller may not evict the pod, or an admission policy of yours forbids it: asked again after a longer while each time',
    remedy: '`kubectl spotalis doctor` tells of rights that are missing',
  },
  EvictionFailed: {
    means:
      'the API server answered an eviction with an error, or not in time: asked again after a longer while each time',
  },
  AnnotationRefused: {
    means:
      'an admission policy or webhook forbids the controller to write the capacity type and deletion cost on a pod; while the type is wrong, no pod of the workload is moved. Asked again after a longer while each time',
    remedy: 'allow the controller to change annotations of pods; the Event has the words of the API server',
  },
  ReplacementsUnseen: {
    means:
      'the replacements of moves in the whole cluster are still to be seen to come through the webhook: until then no more pods go than may be lost to a webhook that is passed by',
  },
  WorkloadBusy: {
    means: 'another disruption of the workload is under way: there is one at a time, whoever asks for it',
  },
  BudgetSpent: {
    means:
      '`rebalance.maxMovesPerMinute` or `maxInFlight` is reached, or in a drought `fallback.maxRemovalsPerMinute`',
  },
  FloorShort: { means: 'a pod is moved to on-demand, because the floor is not met' },
  FloorOrdinal: {
    means:
      'a pod of a StatefulSet is moved to on-demand although the share is right: a scale-down keeps the lowest ordinals, and the floor needs this one',
  },
  SpotSurplus: { means: 'a pod is moved to on-demand, because spot has too many' },
  OnDemandSurplus: { means: 'a pod is moved to spot, because on-demand has too many' },
};
