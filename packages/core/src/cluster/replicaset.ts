import { foreignKeys } from '../policy/keys.ts';
import type { TemplateView } from './workload.ts';
import { type Identified, identityOf, type RawIdentified } from './metadata.ts';
import { type Controller, controllerOf } from './owner.ts';
import { pruneTemplate, type RawTemplate } from './template.ts';

export interface RawReplicaSet extends RawIdentified {
  readonly spec?: { readonly replicas?: number; readonly template?: RawTemplate };
}

/** What is kept of a ReplicaSet. */
export interface ObservedReplicaSet extends Identified {
  /** Its Deployment. */
  readonly controller: Controller | undefined;
  /** The label that narrows a LIST of its pods; membership is decided by UID all the same. */
  readonly podTemplateHash: string | undefined;
  /** One that wants none and has none needs no resync. */
  readonly replicas: number;
  /** What its next pod would be made of. */
  readonly template: TemplateView;
}

/** Old revisions want no pods: what theirs would look like is not kept. */
const nothing: TemplateView = pruneTemplate({});

export function pruneReplicaSet({ metadata, spec }: RawReplicaSet): ObservedReplicaSet {
  const replicas = spec?.replicas ?? 1;
  return {
    metadata: identityOf(metadata),
    controller: controllerOf(metadata),
    podTemplateHash: metadata.labels?.[foreignKeys.podTemplateHash],
    replicas,
    template: replicas === 0 ? nothing : pruneTemplate(spec?.template ?? {}),
  };
}
