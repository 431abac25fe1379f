import type { Metrics } from '@spotalis/runtime';
import type { GaugeSpec } from '@spotalis/units';

const leaderSpec: GaugeSpec<never> = {
  type: 'gauge',
  name: 'spotalis_leader',
  labels: [],
  help: '1 on the replica that leads, 0 on the others.',
};

export const leaderMetricSpecs = [leaderSpec] as const;

/** Returns what to tell whether this replica leads. */
export function leaderMetric(metrics: Metrics): (isLeader: boolean) => void {
  const gauge = metrics.gauge(leaderSpec);
  gauge.set({}, 0);
  return (isLeader) => gauge.set({}, isLeader ? 1 : 0);
}
