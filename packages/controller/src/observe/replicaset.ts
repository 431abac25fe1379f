import { foreignKeys } from '@spotalis/core';
import type { KubeObject, RawObject } from '@spotalis/kube';
import { identityOf } from './metadata.ts';
import { type Controller, controllerOf } from './owner.ts';

export interface RawReplicaSet extends RawObject {
  readonly spec?: { readonly replicas?: number };
}

/** What is kept of a ReplicaSet. */
export interface ObservedReplicaSet extends KubeObject {
  /** Its Deployment. */
  readonly controller: Controller | undefined;
  /** The label that narrows a LIST of its pods; membership is decided by UID all the same. */
  readonly podTemplateHash: string | undefined;
  /** One that wants none and has none needs no resync. */
  readonly replicas: number;
}

export function pruneReplicaSet(raw: RawReplicaSet): ObservedReplicaSet {
  return {
    metadata: identityOf(raw.metadata),
    controller: controllerOf(raw.metadata),
    podTemplateHash: raw.metadata.labels?.[foreignKeys.podTemplateHash],
    replicas: raw.spec?.replicas ?? 1,
  };
}
