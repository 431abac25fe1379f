import type { ObservedWorkload, TypeCounts } from '@spotalis/core';
import type { Metrics } from '@spotalis/runtime';
import type { GaugeSpec } from '@spotalis/units';
import type { WorkloadCount } from './count.ts';
import { labelsOfWorkload, type WorkloadLabel, workloadLabels } from '../../../kernel/cluster/subject.ts';

const replicasSpec: GaugeSpec<WorkloadLabel | 'capacity_type' | 'state'> = {
  type: 'gauge',
  name: 'spotalis_workload_replicas',
  labels: [...workloadLabels, 'capacity_type', 'state'],
  help: 'Replicas of a managed workload by capacity type: desired by its policy, actual by their nodes, reserved in the ledger, substitutes on on-demand for want of spot capacity. From the leader only.',
};

const invalidSpec: GaugeSpec<WorkloadLabel> = {
  type: 'gauge',
  name: 'spotalis_policy_invalid',
  labels: workloadLabels,
  help: '1 while annotations of a managed workload cannot be read; its Events or those of its Namespace say which. From the leader only.',
};

export const workloadMetricSpecs = [replicasSpec, invalidSpec] as const;

/** What is shown of one workload. `reserved` is undefined while the ledger cannot say. */
export interface WorkloadReport {
  readonly count: WorkloadCount;
  readonly reserved: TypeCounts | undefined;
  readonly isInvalid: boolean;
}

/** A workload of ours with what was last seen of it. */
export interface ReportedWorkload {
  readonly workload: ObservedWorkload;
  readonly report: WorkloadReport;
}

export function viewWorkloads(metrics: Metrics, reported: () => Iterable<ReportedWorkload>): void {
  metrics.view(replicasSpec, function* () {
    for (const one of reported()) yield* replicasOf(one);
  });
  metrics.view(invalidSpec, function* () {
    for (const { workload, report } of reported()) {
      yield { labels: labelsOfWorkload(workload), value: report.isInvalid ? 1 : 0 };
    }
  });
}

function* replicasOf({ workload, report: { count, reserved } }: ReportedWorkload) {
  const labels = labelsOfWorkload(workload);
  const sample = (state: string, capacityType: string, value: number) => ({
    labels: { ...labels, capacity_type: capacityType, state },
    value,
  });
  for (const [state, counts] of [
    ['desired', count.desired],
    ['actual', count.actual],
    ['reserved', reserved],
  ] as const) {
    if (counts === undefined) continue;
    yield sample(state, 'spot', counts.spot);
    yield sample(state, 'on-demand', counts.onDemand);
  }
  yield sample('actual', 'unknown', count.actual.unknown);
  yield sample('substitute', 'on-demand', count.substitutes);
}
