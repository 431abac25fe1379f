import type { IntOrPercent, LabelSelector, PdbView } from '@spotalis/core';
import type { KubeObject, RawObject } from '@spotalis/kube';
import { identityOf } from './metadata.ts';

export interface RawPdb extends RawObject {
  readonly spec?: {
    readonly selector?: LabelSelector | null;
    readonly minAvailable?: IntOrPercent;
    readonly maxUnavailable?: IntOrPercent;
    readonly unhealthyPodEvictionPolicy?: string;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly expectedPods?: number;
  };
}

/** What is kept of a PodDisruptionBudget: what the API server would go by. */
export interface ObservedPdb extends KubeObject {
  readonly view: PdbView;
}

export function prunePdb({ metadata, spec = {}, status = {} }: RawPdb): ObservedPdb {
  return {
    metadata: identityOf(metadata),
    view: {
      name: metadata.name,
      selector: spec.selector ?? null,
      minAvailable: spec.minAvailable ?? null,
      maxUnavailable: spec.maxUnavailable ?? null,
      unhealthyPodEvictionPolicy:
        spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' ? 'AlwaysAllow' : 'IfHealthyBudget',
      generation: metadata.generation ?? 0,
      observedGeneration: status.observedGeneration ?? 0,
      disruptionsAllowed: status.disruptionsAllowed ?? 0,
      currentHealthy: status.currentHealthy ?? 0,
      expectedPods: status.expectedPods ?? 0,
    },
  };
}
