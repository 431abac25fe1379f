import type { ObservedWorkload, TypeCounts } from '@spotalis/core';
import type { GaugeSpec, Labels, Metrics } from '@spotalis/runtime';
import type { WorkloadCount } from './count.ts';
import { labelsOfWorkload, type WorkloadLabel } from './subject.ts';

const leaderSpec: GaugeSpec<never> = {
  type: 'gauge',
  name: 'spotalis_leader',
  labels: [],
  help: '1 on the replica that leads, 0 on the others.',
};

const replicasSpec: GaugeSpec<WorkloadLabel | 'capacity_type' | 'state'> = {
  type: 'gauge',
  name: 'spotalis_workload_replicas',
  labels: ['namespace', 'workload', 'workload_type', 'capacity_type', 'state'],
  help: 'Replicas of a managed workload by capacity type: desired by its policy, actual by their nodes, reserved in the ledger, substitutes on on-demand for want of spot capacity. From the leader only.',
};

const driftSpec: GaugeSpec<WorkloadLabel> = {
  type: 'gauge',
  name: 'spotalis_workload_drift',
  labels: ['namespace', 'workload', 'workload_type'],
  help: 'Spot pods of a managed workload too many (above 0) or too few (below 0). From the leader only.',
};

const invalidSpec: GaugeSpec<WorkloadLabel> = {
  type: 'gauge',
  name: 'spotalis_policy_invalid',
  labels: ['namespace', 'workload', 'workload_type'],
  help: '1 while annotations of a managed workload cannot be read; its Events say which. From the leader only.',
};

/** What the controller reports of its own, for the documentation and for the registry. */
export const controllerMetricSpecs = [leaderSpec, replicasSpec, driftSpec, invalidSpec] as const;

/** What is shown of one workload. `reserved` is undefined while the ledger cannot say. */
export interface WorkloadReport {
  readonly count: WorkloadCount;
  readonly reserved: TypeCounts | undefined;
  readonly isInvalid: boolean;
}

/** Registers the gauges of the leader. */
export function leadMetrics(metrics: Metrics) {
  const leader = metrics.gauge(leaderSpec);
  const replicas = metrics.gauge(replicasSpec);
  const drift = metrics.gauge(driftSpec);
  const invalid = metrics.gauge(invalidSpec);
  leader.set({}, 0);

  const showCounts = (
    labels: Labels<WorkloadLabel>,
    state: string,
    counts: (TypeCounts & { readonly unknown?: number }) | undefined,
  ): void => {
    const byType = [
      ['spot', counts?.spot],
      ['on-demand', counts?.onDemand],
      ['unknown', counts?.unknown],
    ] as const;
    for (const [capacityType, count] of byType) {
      const series = { ...labels, capacity_type: capacityType, state };
      if (count === undefined) replicas.remove(series);
      else replicas.set(series, count);
    }
  };

  return {
    leading: (isLeader: boolean) => leader.set({}, isLeader ? 1 : 0),
    /** Everything of a workload, or with no report nothing any more. */
    show(workload: ObservedWorkload, report: WorkloadReport | undefined): void {
      const labels = labelsOfWorkload(workload);
      showCounts(labels, 'desired', report?.count.desired);
      showCounts(labels, 'actual', report?.count.actual);
      showCounts(labels, 'reserved', report?.reserved);
      const standIns = { ...labels, capacity_type: 'on-demand', state: 'substitute' };
      if (report === undefined) replicas.remove(standIns);
      else replicas.set(standIns, report.count.substitutes);
      if (report?.count.drift === undefined) drift.remove(labels);
      else drift.set(labels, report.count.drift);
      if (report === undefined) invalid.remove(labels);
      else invalid.set(labels, report.isInvalid ? 1 : 0);
    },
  };
}

export type LeadMetrics = ReturnType<typeof leadMetrics>;
