import type { LabelSelector } from '../policy/selector.ts';
import type { IntOrPercent } from './workload.ts';

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
