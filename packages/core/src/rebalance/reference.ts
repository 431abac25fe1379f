import type { WorkloadPod } from './pod.ts';
import type { PodReference } from './verdict.ts';

export function referenceTo({ name, uid, resourceVersion }: WorkloadPod): PodReference {
  return { name, uid, resourceVersion };
}
