import type { Breaker, ObservedWorkload } from '@spotalis/core';
import type { Metrics } from '@spotalis/runtime';
import type { GaugeSpec } from '@spotalis/units';
import { labelsOfWorkload, type WorkloadLabel, workloadLabels } from '../../../kernel/cluster/subject.ts';

const drift: GaugeSpec<WorkloadLabel> = {
  type: 'gauge',
  name: 'spotalis_workload_drift',
  labels: workloadLabels,
  help: 'Spot pods of a managed workload too many (above 0) or too few (below 0), which is what repair goes by: in a rollout each ReplicaSet is due the share of its own pods, and a pod whose type nobody knows may be either. From the leader only.',
};

const driftSeconds: GaugeSpec<WorkloadLabel> = {
  type: 'gauge',
  name: 'spotalis_workload_drift_seconds',
  labels: workloadLabels,
  help: 'For how long a managed workload has not been as its policy says; 0 while it is. From the leader only.',
};

const dueSeconds: GaugeSpec<WorkloadLabel> = {
  type: 'gauge',
  name: 'spotalis_workload_repair_due_seconds',
  labels: workloadLabels,
  help: 'Of the time that a managed workload has not been as its policy says, that in which nobody wanted its repair to wait: all but while it is paused, in a paused rollout, outside its window, in read-only mode or short of spot pods in a drought. From the leader only.',
};

const droughtState: GaugeSpec<WorkloadLabel> = {
  type: 'gauge',
  name: 'spotalis_drought_state',
  labels: workloadLabels,
  help: 'Whether pods of a managed workload may go to spot: 0 yes, 1 one at a time after a lack of capacity (half-open), 2 no (open). From the leader only.',
};

export const conditionMetricSpecs = [drift, driftSeconds, dueSeconds, droughtState] as const;

const levels: Readonly<Record<Breaker['state'], number>> = { closed: 0, 'half-open': 1, open: 2 };

/** What was last told of a workload, as time goes by without anything being decided. */
export interface Condition {
  readonly workload: ObservedWorkload;
  /** Null: without a policy there is nothing to differ from. */
  readonly drift: number | null;
  readonly driftSeconds: number;
  readonly dueSeconds: number;
  /** Null: nobody watches for one. */
  readonly drought: Breaker['state'] | null;
}

export function viewConditions(metrics: Metrics, conditions: () => Iterable<Condition>): void {
  metrics.view(drift, function* () {
    for (const one of conditions()) {
      if (one.drift !== null) yield { labels: labelsOfWorkload(one.workload), value: one.drift };
    }
  });
  metrics.view(driftSeconds, function* () {
    for (const one of conditions()) yield { labels: labelsOfWorkload(one.workload), value: one.driftSeconds };
  });
  metrics.view(dueSeconds, function* () {
    for (const one of conditions()) yield { labels: labelsOfWorkload(one.workload), value: one.dueSeconds };
  });
  metrics.view(droughtState, function* () {
    for (const { workload, drought } of conditions()) {
      if (drought !== null) yield { labels: labelsOfWorkload(workload), value: levels[drought] };
    }
  });
}
