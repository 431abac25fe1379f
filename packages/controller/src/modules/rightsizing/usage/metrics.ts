import type { CounterSpec, MetricRegistry } from '@spotalis/units';
import { dropReasons, type UsageReading, usageProblemReasons } from './reading.ts';

const failures: CounterSpec<'provider' | 'reason'> = {
  type: 'counter',
  name: 'spotalis_rightsizing_usage_failures_total',
  labels: ['provider', 'reason'],
  help: 'Readings of usage that failed, by reason. A reading that fails changes no size.',
};

const dropped: CounterSpec<'provider' | 'reason'> = {
  type: 'counter',
  name: 'spotalis_rightsizing_usage_values_dropped_total',
  labels: ['provider', 'reason'],
  help: 'Values left out of readings of usage that did not fail, by reason.',
};

/** Registers spotalis_rightsizing_usage_*. Each provider counts its readings under its name. */
export function usageMetrics(registry: MetricRegistry) {
  const failed = registry.counter(failures);
  const left = registry.counter(dropped);
  return {
    counter(provider: string) {
      for (const reason of usageProblemReasons) failed.touch({ provider, reason });
      for (const reason of dropReasons) left.touch({ provider, reason });
      return {
        finished: (reading: UsageReading<unknown>): void => {
          if (reading.kind === 'failed') {
            failed.add({ provider, reason: reading.problem.reason });
            return;
          }
          for (const reason of dropReasons) {
            const count = reading.dropped[reason];
            if (count !== undefined) left.add({ provider, reason }, count);
          }
        },
      };
    },
  };
}
