import type { KubeObject, RawObject } from '@spotalis/kube';
import { identityOf, ownAnnotations, ownLabels } from './metadata.ts';

export type WorkloadKind = 'Deployment' | 'StatefulSet';

export interface RawWorkload extends RawObject {
  readonly spec?: { readonly replicas?: number };
}

/** What is kept of a Deployment or a StatefulSet. */
export interface ObservedWorkload extends KubeObject {
  readonly workloadKind: WorkloadKind;
  /** Under our prefix: the opt-in. */
  readonly labels: Readonly<Record<string, string>>;
  /** Under our prefix: the policy. */
  readonly annotations: Readonly<Record<string, string>>;
  /** As its owner declares it; the API server fills in 1 where nothing is said. */
  readonly replicas: number;
}

export const pruneWorkload =
  (workloadKind: WorkloadKind) =>
  (raw: RawWorkload): ObservedWorkload => ({
    metadata: identityOf(raw.metadata),
    workloadKind,
    labels: ownLabels(raw.metadata),
    annotations: ownAnnotations(raw.metadata),
    replicas: raw.spec?.replicas ?? 1,
  });
