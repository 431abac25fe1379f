import { type Annotations, keyPrefix, type Labels } from '@spotalis/core';
import type { KubeObject, RawObject } from '@spotalis/kube';

/** What is kept of a Namespace, Deployment or StatefulSet: enough to say whether it is managed and how. */
export interface OptInRecord extends KubeObject {
  readonly labels: Labels;
  /** Only Spotalis' own; others may be large. */
  readonly annotations: Annotations;
  /** `spec.ordinals.start` of a StatefulSet. */
  readonly firstOrdinal: number;
}

export interface RawOptIn extends RawObject {
  readonly spec?: { readonly ordinals?: { readonly start?: number } };
}

export function pruneOptIn({ metadata, spec }: RawOptIn): OptInRecord {
  const { name, namespace, uid, resourceVersion, labels = {}, annotations = {} } = metadata;
  return {
    metadata: { name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) },
    labels,
    annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => key.startsWith(keyPrefix))),
    firstOrdinal: spec?.ordinals?.start ?? 0,
  };
}
