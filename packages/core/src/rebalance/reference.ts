import type { PodReference } from './verdict.ts';

export function referenceTo({ name, uid, resourceVersion }: PodReference): PodReference {
  return { name, uid, resourceVersion };
}
