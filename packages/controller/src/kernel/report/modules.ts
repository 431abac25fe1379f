import type { Metrics } from '@spotalis/runtime';
import type { GaugeSpec } from '@spotalis/units';
import type { UnavailableResource } from '../watch.ts';

const available: GaugeSpec<'module' | 'reason'> = {
  type: 'gauge',
  name: 'spotalis_module_available',
  labels: ['module', 'reason'],
  help: '1 while a module can read the resources that it watches for itself; 0 while it cannot, because of CRDMissing or Forbidden. From the leader and from the others.',
};

export const moduleMetricSpecs = [available] as const;

/** Whether a module can read what it watches for itself. */
export interface Availability {
  readonly name: string;
  readonly unavailable: UnavailableResource | undefined;
}

export function viewModules(metrics: Metrics, all: () => Iterable<Availability>): void {
  metrics.view(available, function* () {
    for (const { name, unavailable } of all()) {
      const reason = unavailable?.reason ?? '';
      yield { labels: { module: name, reason }, value: unavailable === undefined ? 1 : 0 };
    }
  });
}
