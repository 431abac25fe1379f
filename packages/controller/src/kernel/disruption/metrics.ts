import type { Metrics } from '@spotalis/runtime';
import type { GaugeSpec } from '@spotalis/units';

const inFlight: GaugeSpec<never> = {
  type: 'gauge',
  name: 'spotalis_moves_in_flight',
  labels: [],
  help: 'Moves whose replacement is not Ready yet. From the leader only.',
};

export const disruptionMetricSpecs = [inFlight] as const;

/** Returns what to tell the count. */
export function disruptionMetrics(metrics: Metrics): (count: number) => void {
  const gauge = metrics.gauge(inFlight);
  gauge.set({}, 0);
  return (count) => gauge.set({}, count);
}
