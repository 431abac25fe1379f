import { ledgerMetrics, type LedgerObserver } from '@spotalis/ledger';
import type { Metrics } from '@spotalis/runtime';
import { admissionSeconds, type CounterSpec, type GaugeSpec, type HistogramSpec } from '@spotalis/units';
import { notManagedReasons, type Skipped, unresolvedReasons } from '../admission/record.ts';
import {
  type DistributionRecord,
  leftAloneReasons,
  steeredReasons,
  unsteeredReasons,
} from '../steps/distribution/record.ts';

const admissions: CounterSpec<'result' | 'capacity_type' | 'reason'> = {
  type: 'counter',
  name: 'spotalis_admissions_total',
  labels: ['result', 'capacity_type', 'reason'],
  help: 'Admissions by result: steered (with how its type came about), previewed (the same, of a dry run or in read-only mode: nothing is kept), unsteered (could not be), left-alone (not ours) or failed.',
};

const admissionDuration: HistogramSpec<'result'> = {
  type: 'histogram',
  name: 'spotalis_admission_duration_seconds',
  labels: ['result'],
  buckets: admissionSeconds,
  help: 'From the request read to the answer written.',
};

const openPools: GaugeSpec<never> = {
  type: 'gauge',
  name: 'spotalis_open_pools',
  labels: [],
  help: 'Placements of which this webhook knows that there is no spot capacity: their new pods get substitutes without waiting. It asks once a second.',
};

const reads: CounterSpec<'kind' | 'reason'> = {
  type: 'counter',
  name: 'spotalis_webhook_reads_total',
  labels: ['kind', 'reason'],
  help: 'Reads of the API server that an admission needed: list (a decision asked for the pods), replicaset, owner, namespace, workload.',
};

/** Everything that only the webhook measures. */
export const webhookMetricSpecs = [admissions, admissionDuration, openPools, reads] as const;

export type ReadKind = 'list' | 'replicaset' | 'owner' | 'namespace' | 'workload';

const listReasons = ['unseeded', 'dirty', 'expired-pending', 'release-seen', 'full', 'ledger-unavailable'];

/** Registers the webhook's own metrics, each series at 0. */
export function admissionMetrics(metrics: Metrics) {
  const total = metrics.counter(admissions);
  const seconds = metrics.histogram(admissionDuration);
  const readTotal = metrics.counter(reads);

  for (const reason of steeredReasons) {
    for (const type of ['spot', 'on-demand']) {
      for (const result of ['steered', 'previewed']) total.touch({ result, capacity_type: type, reason });
    }
  }
  for (const reason of [...unresolvedReasons, ...unsteeredReasons])
    total.touch({ result: 'unsteered', capacity_type: 'none', reason });
  for (const reason of [...notManagedReasons, ...leftAloneReasons])
    total.touch({ result: 'left-alone', capacity_type: 'none', reason });
  total.touch({ result: 'failed', capacity_type: 'none', reason: 'error' });
  for (const result of ['steered', 'previewed', 'unsteered', 'left-alone', 'failed'])
    seconds.touch({ result });
  for (const reason of listReasons) readTotal.touch({ kind: 'list', reason });
  for (const kind of ['replicaset', 'owner', 'namespace', 'workload']) readTotal.touch({ kind, reason: '' });

  return {
    /** `kept`: no dry run, and not in read-only mode. */
    admitted(record: DistributionRecord | Skipped, kept: boolean, durationMs: number): void {
      const { reason } = record;
      const result = record.result === 'steered' && !kept ? 'previewed' : record.result;
      total.add({ result, capacity_type: record.result === 'steered' ? record.type : 'none', reason });
      seconds.observe({ result }, durationMs / 1_000);
    },
    failed(durationMs: number): void {
      total.add({ result: 'failed', capacity_type: 'none', reason: 'error' });
      seconds.observe({ result: 'failed' }, durationMs / 1_000);
    },
    read: (kind: ReadKind, reason = '') => readTotal.add({ kind, reason }),
  };
}

export type AdmissionMetrics = ReturnType<typeof admissionMetrics>;

/** The metrics of the webhook's ledger. */
export function ledgerObserver(metrics: Metrics): Required<LedgerObserver> {
  const pools = metrics.gauge(openPools);
  pools.set({}, 0);
  return { ...ledgerMetrics(metrics), openPools: (count) => pools.set({}, count) };
}
