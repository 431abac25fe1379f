import {
  type CapacityType,
  type ObservedPod,
  type PolicyReading,
  targetOnDemand,
  targetSpot,
  type TypeCounts,
} from '@spotalis/core';

/** Pods by where they are. `unknown`: on a node that no configured label knows, or never steered nor scheduled. */
interface ActualCounts extends TypeCounts {
  readonly unknown: number;
}

export interface WorkloadCount {
  readonly actual: ActualCounts;
  /** On-demand pods that stand in for spot pods. */
  readonly substitutes: number;
  /** What the policy asks for at the declared number of replicas; undefined without a policy. */
  readonly desired: TypeCounts | undefined;
}

/**
 * Counts the pods of one workload. A scheduled pod has its node's type, whatever it asked for; an unscheduled one
 * what admission gave it.
 */
export function countWorkload(
  workload: {
    readonly replicas: number;
    readonly pods: readonly ObservedPod[];
    readonly policy: PolicyReading;
  },
  nodeTypeOf: (pod: ObservedPod) => CapacityType | undefined,
): WorkloadCount {
  const actual = { spot: 0, onDemand: 0, unknown: 0 };
  let substitutes = 0;
  for (const pod of workload.pods) {
    if (pod.ended) continue;
    const type = pod.nodeName === undefined ? pod.admitted?.type : nodeTypeOf(pod);
    if (type === 'on-demand' && pod.admitted?.substitute === true) substitutes++;
    actual[type === undefined ? 'unknown' : type === 'spot' ? 'spot' : 'onDemand']++;
  }
  if (workload.policy.kind === 'none') return { actual, substitutes, desired: undefined };
  const { numbers } = workload.policy;
  return {
    actual,
    substitutes,
    desired: {
      spot: targetSpot(numbers, workload.replicas),
      onDemand: targetOnDemand(numbers, workload.replicas),
    },
  };
}
