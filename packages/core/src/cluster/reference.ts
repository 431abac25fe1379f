/** A pod as an action on it has to name it. */
export interface PodReference {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export function referenceTo({ name, uid, resourceVersion }: PodReference): PodReference {
  return { name, uid, resourceVersion };
}
