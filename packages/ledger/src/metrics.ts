import {
  admissionSeconds,
  type CounterSpec,
  type GaugeSpec,
  type HistogramSpec,
  type MetricRegistry,
} from '@spotalis/units';
import type { LedgerMode, LedgerOperation } from './ledger.ts';

const durations: HistogramSpec<'operation'> = {
  type: 'histogram',
  name: 'spotalis_ledger_duration_seconds',
  labels: ['operation'],
  buckets: admissionSeconds,
  help: 'How long one call of the ledger takes, failed ones included.',
};

const failures: CounterSpec<'operation' | 'code'> = {
  type: 'counter',
  name: 'spotalis_ledger_failures_total',
  labels: ['operation', 'code'],
  help: 'Calls of the ledger that failed.',
};

const mode: GaugeSpec<'mode'> = {
  type: 'gauge',
  name: 'spotalis_ledger_mode',
  labels: ['mode'],
  help: '1 for the mode that the ledger is in: embedded, connecting, ready or degraded.',
};

/** What either service shows of its ledger. */
export const ledgerMetricSpecs = [durations, failures, mode] as const;

const modes: readonly LedgerMode[] = ['embedded', 'connecting', 'ready', 'degraded'];

/** Registers them, in the mode `connecting`. */
export function ledgerMetrics(registry: MetricRegistry) {
  const seconds = registry.histogram(durations);
  const failed = registry.counter(failures);
  const current = registry.gauge(mode);
  const show = (now: LedgerMode): void => {
    for (const each of modes) current.set({ mode: each }, each === now ? 1 : 0);
  };
  show('connecting');
  return {
    mode: show,
    operation: ({ operation, durationMs, outcome }: LedgerOperation): void => {
      seconds.observe({ operation }, durationMs / 1_000);
      if (outcome !== 'ok') failed.add({ operation, code: outcome });
    },
  };
}
