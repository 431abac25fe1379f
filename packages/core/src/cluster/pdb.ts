import type { LabelSelector } from '../policy/selector.ts';
import type { IntOrPercent } from './workload.ts';
import { type Identified, identityOf, type RawIdentified } from './metadata.ts';

/** A PodDisruptionBudget of the workload's namespace. */
export interface PdbView {
  readonly name: string;
  /** As in policy/v1: an empty selector selects every pod of the namespace, none (null) selects no pod. */
  readonly selector: LabelSelector | null;
  readonly minAvailable: IntOrPercent | null;
  readonly maxUnavailable: IntOrPercent | null;
  readonly unhealthyPodEvictionPolicy: 'IfHealthyBudget' | 'AlwaysAllow';
  readonly generation: number;
  readonly observedGeneration: number;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly expectedPods: number;
}

export interface RawPdb extends RawIdentified {
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
export interface ObservedPdb extends Identified {
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
