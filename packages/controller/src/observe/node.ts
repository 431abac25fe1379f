import type { CapacityType, Labels } from '@spotalis/core';
import type { KubeObject, RawObject } from '@spotalis/kube';
import { identityOf } from './metadata.ts';

/** What is kept of a Node: what its labels say, and not the labels. */
export interface ObservedNode extends KubeObject {
  /** Undefined for a node that no configured label knows. */
  readonly type: CapacityType | undefined;
}

export const pruneNode =
  (classify: (labels: Labels) => CapacityType | undefined) =>
  (raw: RawObject): ObservedNode => ({
    metadata: identityOf(raw.metadata),
    type: classify(raw.metadata.labels ?? {}),
  });
