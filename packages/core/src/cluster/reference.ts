import type { WorkloadPod } from './workload-pod.ts';

/** A pod as an action on it has to name it. */
export interface PodReference {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export function referenceTo({ name, uid, resourceVersion }: WorkloadPod): PodReference {
  return { name, uid, resourceVersion };
}
