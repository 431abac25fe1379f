import {
  explainRebalance,
  type ObservedWorkload,
  type RebalanceTrace,
  type StuckReference,
} from '@spotalis/core';
import type { EventRecorder } from '@spotalis/kube';
import type { Logger, Metrics } from '@spotalis/runtime';
import type { CounterSpec, HistogramSpec } from '@spotalis/units';
import { referenceTo, subjectOfWorkload } from '../../../kernel/cluster/subject.ts';
import type { DistributionEvent } from '../report/events.ts';

const fallbacks: CounterSpec<never> = {
  type: 'counter',
  name: 'spotalis_fallbacks_total',
  labels: [],
  help: 'Pods that waited for spot capacity in vain and were removed, so that a substitute on on-demand takes their place.',
};

const timeToFallback: HistogramSpec<never> = {
  type: 'histogram',
  name: 'spotalis_time_to_fallback_seconds',
  labels: [],
  help: 'How long each of these pods had waited.',
  buckets: [1, 5, 15, 30, 60, 120, 180, 300, 600, 1800],
};

const timeToReturn: HistogramSpec<never> = {
  type: 'histogram',
  name: 'spotalis_time_to_return_seconds',
  labels: [],
  help: 'From the first sign that there is spot capacity again until a workload had no substitute left.',
  buckets: [5, 15, 30, 60, 120, 300, 600, 1800, 3600, 14_400],
};

export const droughtMetricSpecs = [fallbacks, timeToFallback, timeToReturn] as const;

export function droughtMetrics(metrics: Metrics) {
  const removed = metrics.counter(fallbacks);
  const toFallback = metrics.histogram(timeToFallback);
  const toReturn = metrics.histogram(timeToReturn);
  removed.touch({});
  return {
    removed(waitedMs: number): void {
      removed.add({});
      toFallback.observe({}, waitedMs / 1000);
    },
    returned: (lastedMs: number) => toReturn.observe({}, lastedMs / 1000),
  };
}

export type DroughtMetrics = ReturnType<typeof droughtMetrics>;

export interface DroughtNarratorParts {
  readonly recorder: Pick<EventRecorder<DistributionEvent>, 'record'>;
  readonly metrics: Pick<DroughtMetrics, 'removed' | 'returned'>;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Tells people how droughts go. Between its beginning and its end a drought is a matter of logs and metrics. */
export class DroughtNarrator {
  readonly #parts: DroughtNarratorParts;

  constructor(parts: DroughtNarratorParts) {
    this.#parts = parts;
  }

  /** The breaker was written. */
  changed(workload: ObservedWorkload, trace: RebalanceTrace): void {
    const { recorder, metrics, logger, now } = this.#parts;
    const { reason, facts } = trace;
    // Each removal has a line of its own, and the minute may not allow all that were wanted.
    const said = Object.entries(facts).filter(([name]) => name !== 'removed');
    logger.info('drought', { workload: subjectOfWorkload(workload), reason, ...Object.fromEntries(said) });
    if (reason === 'FallbackEnded' && trace.facts.returnedSinceMs !== null) {
      metrics.returned(now() - trace.facts.returnedSinceMs);
    }
    if (reason !== 'FallbackStarted' && reason !== 'FallbackEnded') return;
    recorder.record({
      regarding: referenceTo(workload.workloadKind, workload),
      type: reason === 'FallbackStarted' ? 'Warning' : 'Normal',
      reason,
      action: 'Bridge',
      note: explainRebalance(trace),
    });
  }

  removed(workload: ObservedWorkload, pod: StuckReference, nowMs: number): void {
    const waitedMs = nowMs - pod.sinceMs;
    this.#parts.metrics.removed(waitedMs);
    const subject = subjectOfWorkload(workload);
    this.#parts.logger.info('stuck pod removed', { workload: subject, pod: pod.name, waitedMs });
  }
}
