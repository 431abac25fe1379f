import {
  type CapacityType,
  drift,
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
  /** Spot pods too many or too few among the pods there are; undefined without a policy. */
  readonly drift: number | undefined;
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
  /** On a node that says nothing a pod goes on counting as what admission gave it. */
  let spot = 0;
  let substitutes = 0;
  for (const pod of workload.pods) {
    if (pod.ended) continue;
    const nodeType = nodeTypeOf(pod);
    const type = pod.nodeName === undefined ? pod.admitted?.type : nodeType;
    if (type === 'on-demand' && pod.admitted?.substitute === true) substitutes++;
    actual[type === undefined ? 'unknown' : type === 'spot' ? 'spot' : 'onDemand']++;
    if ((nodeType ?? pod.admitted?.type) === 'spot') spot++;
  }
  if (workload.policy.kind === 'none') return { actual, substitutes, desired: undefined, drift: undefined };
  const { numbers } = workload.policy;
  const present = actual.spot + actual.onDemand + actual.unknown;
  return {
    actual,
    substitutes,
    desired: {
      spot: targetSpot(numbers, workload.replicas),
      onDemand: targetOnDemand(numbers, workload.replicas),
    },
    drift: drift(numbers, { spot, onDemand: present - spot }),
  };
}
