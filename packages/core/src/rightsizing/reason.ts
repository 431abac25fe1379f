/** What holds of a reason, whatever workload it is about. */
export interface RightsizingTraits {
  readonly means: string;
  /** Null: there is nothing to do, because it is as it should be, was asked for, or ends by itself. */
  readonly remedy: string | null;
  /** It ends by itself. */
  readonly passes?: true;
  /** An Event on the workload tells of it. */
  readonly alerts?: 'Normal' | 'Warning';
  /** All is as it should be. */
  readonly calm?: true;
}

/** Why nothing is found out about a workload, or nothing is applied to it. */
export type WorkloadReason =
  | 'Disabled'
  | 'InvalidPolicy'
  | 'ForeignNamespace'
  | 'OutOfScope'
  | 'ConflictingPolicy'
  | 'WorkloadDeleted'
  | 'ReadOnly'
  | 'DryRun'
  | 'RecommendOnly'
  | 'Paused'
  | 'Forbidden';

/** What becomes of one amount of one container. */
export type AmountReason =
  // No evidence.
  | 'ContainerOff'
  | 'NoRequest'
  | 'MissingMetrics'
  | 'InsufficientData'
  // Somebody else's.
  | 'HPAOnCPU'
  | 'HPAOnMemory'
  | 'ManagedByVpa'
  // Guards.
  | 'PolicyBounds'
  | 'Surge'
  | 'FlooredAtPeak'
  | 'EvictionFloor'
  | 'HeldAtPeak'
  | 'LimitRangeBounds'
  | 'LargestNode'
  | 'BelowLimit'
  | 'QoSGuaranteed'
  // Holds.
  | 'WithinThreshold'
  | 'LowHistory'
  | 'Stabilizing'
  | 'ScheduleClosed'
  // Changes.
  | 'Increased'
  | 'Decreased'
  // Limits.
  | 'LimitRaised'
  | 'OutOfMemory'
  | 'LimitFollows'
  | 'LimitReverted'
  | 'LimitHeld'
  | 'LimitTooLow'
  | 'GrowthCap'
  | 'LimitOwnedByAllocation';

/** What becomes of one pod. */
export type PodReason =
  | 'AtTarget'
  | 'Resizing'
  | 'PodBudgetSpent'
  | 'PodNotResizable'
  | 'RecreateNotAllowed'
  | 'RecreateNotWorthIt'
  | 'Recreating';

export type RightsizingReason = WorkloadReason | AmountReason | PodReason;

/** The one place that says what a reason is like: no other list of reasons is kept. */
export const rightsizingReasons: Readonly<Record<RightsizingReason, RightsizingTraits>> = {
  Disabled: { means: 'the policy is Disabled: the status stays as it is', remedy: null },
  InvalidPolicy: {
    means: 'the policy cannot be read, or a newer version wrote it',
    remedy: 'correct it; its condition Ready names the field, the value and an example',
    alerts: 'Warning',
  },
  ForeignNamespace: {
    means: "a policy outside the controller's namespace selects workloads of its own namespace only",
    remedy: "create the policy in the workload's namespace, or in that of the controller",
    alerts: 'Warning',
  },
  OutOfScope: {
    means: 'the workload is outside of `scope`',
    remedy: 'widen `scope` in the configuration if the workload is meant',
  },
  ConflictingPolicy: {
    means: 'another policy that selects the workload has a higher weight, or comes first by name',
    remedy: 'change `weight`, or narrow one of the two selectors',
  },
  WorkloadDeleted: { means: 'the workload is being deleted', remedy: null },
  ReadOnly: { means: '`readOnlyMode` is on: nothing is written', remedy: null },
  DryRun: {
    means: '`rightsizing.dryRun` is on: recommendations are written to the status only',
    remedy: null,
  },
  RecommendOnly: {
    means: 'the mode of the policy is Recommend: the status is all that is written',
    remedy: null,
  },
  Paused: { means: '`spotalis.io/rightsizing-paused` is set on the workload', remedy: null },
  Forbidden: {
    means: 'the controller lacks the right to read or change the workload',
    remedy: '`kubectl spotalis doctor` names the missing right',
    alerts: 'Warning',
  },
  ContainerOff: {
    means: 'a container policy turns the container off, or it is a well-known sidecar',
    remedy: 'name the container in `containerPolicies` to have it sized',
  },
  NoRequest: {
    means: 'the container has no such request, and one that is added could not be removed again',
    remedy: 'set a request in the template to have it sized',
  },
  MissingMetrics: {
    means: 'no usage has arrived for two points, or the provider fails: nothing changes',
    remedy: 'see the condition MetricsAvailable of the policy',
    alerts: 'Warning',
    passes: true,
  },
  InsufficientData: {
    means: 'fewer than `minSamples` minutes of usage are known',
    remedy: null,
    passes: true,
  },
  HPAOnCPU: {
    means: 'a HorizontalPodAutoscaler scales on CPU utilization, which depends on the request',
    remedy: '`hpa: Ignore` sizes CPU all the same',
  },
  HPAOnMemory: {
    means: 'a HorizontalPodAutoscaler scales on memory utilization, which depends on the request',
    remedy: '`hpa: Ignore` sizes memory all the same',
  },
  ManagedByVpa: {
    means: 'a VerticalPodAutoscaler writes this resource of the container',
    remedy: 'set its updateMode to Off, or delete it',
  },
  PolicyBounds: { means: 'the bounds of the policy', remedy: null },
  Surge: { means: 'CPU usage of the surge window is higher', remedy: null },
  FlooredAtPeak: { means: '`floorAtPeak`: not below the highest usage of the window', remedy: null },
  EvictionFloor: {
    means: 'a pod was evicted for want of memory within seven days: not below what it used then',
    remedy: null,
  },
  HeldAtPeak: {
    means: 'a memory request does not fall below the highest usage of the window, today and yesterday',
    remedy: null,
    passes: true,
  },
  LimitRangeBounds: { means: 'a LimitRange of the namespace', remedy: 'change the LimitRange' },
  LargestNode: { means: 'no node is larger', remedy: null },
  BelowLimit: {
    means: 'a request is never above its limit',
    remedy: 'raise the limit in the template, or set `updateRequestsOnly: false`',
  },
  QoSGuaranteed: {
    means: 'request and limit are equal in a Guaranteed pod, and limits are not ours to change',
    remedy: 'set `updateRequestsOnly: false` to have both changed together',
  },
  WithinThreshold: { means: 'the change is smaller than `changeThreshold`', remedy: null, calm: true },
  LowHistory: { means: 'a decrease waits for `minHistory` of usage', remedy: null, passes: true },
  Stabilizing: {
    means: 'a decrease goes to the highest target of `decreaseStabilization`',
    remedy: null,
    passes: true,
  },
  ScheduleClosed: { means: 'a decrease waits for `schedule`', remedy: null, passes: true },
  Increased: { means: 'the target is higher than before', remedy: null, alerts: 'Normal' },
  Decreased: { means: 'the target is lower than before', remedy: null, alerts: 'Normal' },
  LimitRaised: {
    means: 'usage came near to the limit, and the limit is raised',
    remedy: null,
    alerts: 'Normal',
  },
  OutOfMemory: {
    means: 'the container ran out of memory, and its limit is raised',
    remedy: null,
    alerts: 'Warning',
  },
  LimitFollows: { means: 'the limit is a multiple of the target', remedy: null },
  LimitReverted: {
    means: 'the container ran out of memory after its limit was lowered: it has the limit of before',
    remedy: null,
    alerts: 'Warning',
  },
  LimitHeld: {
    means: 'a lower limit waits for the end of a hold after a revert',
    remedy: null,
    passes: true,
  },
  LimitTooLow: {
    means: 'the container ran out of memory, and limits are not ours to change',
    remedy: 'raise the memory limit in the template to the amount that the Event names',
    alerts: 'Warning',
  },
  GrowthCap: {
    means: 'the limit is at its cap: the bounds, the template or `maxGrowth`',
    remedy: 'look for a leak; else raise `resourceBounds.memory.max` or `maxGrowth`',
    alerts: 'Warning',
  },
  LimitOwnedByAllocation: { means: 'an AllocationPolicy sets the CPU limit', remedy: null },
  AtTarget: { means: 'the pod has its target', remedy: null, calm: true },
  Resizing: { means: 'the pod is resized in place', remedy: null, passes: true },
  PodBudgetSpent: {
    means: '`maxConcurrentPods` of the workload are being changed',
    remedy: null,
    passes: true,
  },
  PodNotResizable: {
    means: 'no resize could change this pod: `explain` says why',
    remedy: 'see the reason that is named with it',
  },
  RecreateNotAllowed: {
    means: 'the pod would have to be recreated, and `allowRecreate` is false',
    remedy: 'set `allowRecreate: true`, or wait for the next rollout: new pods get the target',
    alerts: 'Warning',
  },
  RecreateNotWorthIt: {
    means: 'a pod is recreated only to grow by a quarter, or after it ran out of memory',
    remedy: null,
  },
  Recreating: {
    means: 'the pod is evicted, and its replacement gets the target',
    remedy: null,
    passes: true,
  },
};
