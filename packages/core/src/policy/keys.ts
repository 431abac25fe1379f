/** Every label and annotation key that this project reads or writes. Nothing else spells one out. */

const ours = 'spotalis.io/';

/** Keys that start like this are ours, so that an unknown one is a typo or of a newer version. */
export const keyPrefix = ours;

/** The opt-in, on a Namespace and on a workload: a label, and exactly the value "true". */
export const enabledLabel = `${ours}enabled`;

/** Annotations of a workload; on a Namespace they are the defaults of its workloads. */
export const policyKeys = {
  spotPercentage: `${ours}spot-percentage`,
  minOnDemand: `${ours}min-on-demand`,
  disruptionSchedule: `${ours}disruption-schedule`,
  disruptionDuration: `${ours}disruption-duration`,
  spotFallbackAfter: `${ours}spot-fallback-after`,
  paused: `${ours}paused`,
} as const;

/** One of the values a policy is made of, by its name in the configuration's `defaults`. */
export type PolicyField = keyof typeof policyKeys;

/** Annotations of a pod. All but `doNotMove` are written at admission. */
export const podKeys = {
  /** The uid of the admission request that decided. */
  reservation: `${ours}reservation`,
  /** `spot` or `on-demand`. */
  capacityType: `${ours}capacity-type`,
  /** The pod's number among those of its type: 0, 1, ... */
  rank: `${ours}rank`,
  /** The numbers that were in force, as "70/2". */
  policy: `${ours}policy`,
  /** "true" on an on-demand pod that stands in for a spot pod. */
  substitute: `${ours}substitute`,
  /** "true", set by people: never move this pod. */
  doNotMove: `${ours}do-not-move`,
} as const;

/** On placeholders, which are pods of ours in our own namespace. */
export const placeholderKeys = {
  /** Label: the UID of the workload whose pod it stands for. */
  workload: `${ours}placeholder`,
  /** Label: `spot` or `on-demand`. */
  capacityType: podKeys.capacityType,
  /** Annotation, for people: kind, namespace and name of the workload. */
  standsFor: `${ours}stands-for`,
  /** Annotation: what it was made of, to tell whether a new one would differ. */
  shape: `${ours}shape`,
} as const;

/** On pods whose resources are changed in place. */
export const resizeKeys = {
  /** Annotation: the CPU limits that were there before the first loan, by container, as JSON. */
  originalCpuLimits: `${ours}original-cpu-limits`,
} as const;

/** Of right-sizing. */
export const rightsizingKeys = {
  /** Annotation of a workload: "true" lets nothing be applied. */
  paused: `${ours}rightsizing-paused`,
  /** Annotation of a pod: the requests and limits that it came with, by container, as JSON. */
  templateResources: `${ours}template-resources`,
} as const;

/** Other projects' keys that are honoured, or written for them to honour. */
export const foreignKeys = {
  /** Read by the ReplicaSet controller: the lowest goes first. An int32 as text. */
  podDeletionCost: 'controller.kubernetes.io/pod-deletion-cost',
  /** "true", or a Go duration since the pod's start. */
  karpenterDoNotDisrupt: 'karpenter.sh/do-not-disrupt',
  /** "false" forbids. */
  safeToEvict: 'cluster-autoscaler.kubernetes.io/safe-to-evict',
  /** On static pods' mirrors, which no one can evict. */
  mirror: 'kubernetes.io/config.mirror',
  /** Label that a Deployment puts on a ReplicaSet and its pods. */
  podTemplateHash: 'pod-template-hash',
  /** The same for StatefulSets; it begins with the StatefulSet's name. */
  controllerRevisionHash: 'controller-revision-hash',
  /** Labels of a node. */
  hostname: 'kubernetes.io/hostname',
  zone: 'topology.kubernetes.io/zone',
} as const;

export type Annotations = Readonly<Record<string, string>>;
export type Labels = Readonly<Record<string, string>>;
