import { specs } from './catalogue.ts';
import type { Metrics } from './registry.ts';

/** How long keys have been with their workers. */
export interface UnfinishedWork {
  readonly total: number;
  readonly longest: number;
}

/** Registers workqueue_*. Each queue gets an observer of its own. */
export function workqueueMetrics(metrics: Metrics) {
  const depth = metrics.gauge(specs.queueDepth);
  const adds = metrics.counter(specs.queueAdds);
  const waits = metrics.histogram(specs.queueWaitSeconds);
  const works = metrics.histogram(specs.queueWorkSeconds);
  const retries = metrics.counter(specs.queueRetries);
  const unfinished = new Map<string, () => UnfinishedWork>();
  metrics.view(specs.queueUnfinished, function* () {
    for (const [name, ask] of unfinished) yield { labels: { name }, value: ask().total / 1_000 };
  });
  metrics.view(specs.queueLongest, function* () {
    for (const [name, ask] of unfinished) yield { labels: { name }, value: ask().longest / 1_000 };
  });
  return {
    observer(name: string) {
      const queue = { name };
      for (const metric of [adds, waits, works, retries]) metric.touch(queue);
      depth.set(queue, 0);
      unfinished.set(name, () => ({ total: 0, longest: 0 }));
      return {
        added: () => adds.add(queue),
        retried: () => retries.add(queue),
        depth: (ready: number) => depth.set(queue, ready),
        started: (waitedMs: number) => waits.observe(queue, waitedMs / 1_000),
        finished: (workedMs: number) => works.observe(queue, workedMs / 1_000),
      };
    },
    /** Asks the queue at each scrape how long its workers have been at it. */
    watchUnfinished(name: string, unfinishedMs: () => UnfinishedWork): void {
      unfinished.set(name, unfinishedMs);
    },
  };
}

export type ReconcileOutcome = 'success' | 'requeue_after' | 'error' | 'terminal' | 'panic';

/** Registers controller_runtime_reconcile_* and its gauges of workers. */
export function reconcileMetrics(metrics: Metrics) {
  const total = metrics.counter(specs.reconcileTotal);
  const errors = metrics.counter(specs.reconcileErrors);
  const terminal = metrics.counter(specs.reconcileTerminalErrors);
  const panics = metrics.counter(specs.reconcilePanics);
  const seconds = metrics.histogram(specs.reconcileSeconds);
  const most = metrics.gauge(specs.reconcileWorkersMax);
  const active = metrics.gauge(specs.reconcileWorkersActive);
  return {
    observer(controller: string, workers: number) {
      const labels = { controller };
      for (const result of ['success', 'requeue_after', 'error']) total.touch({ controller, result });
      for (const metric of [errors, terminal, panics, seconds]) metric.touch(labels);
      active.set(labels, 0);
      most.set(labels, workers);
      return {
        active: (count: number) => active.set(labels, count),
        reconciled(outcome: ReconcileOutcome, durationMs: number): void {
          const failed = outcome === 'error' || outcome === 'terminal' || outcome === 'panic';
          total.add({ controller, result: failed ? 'error' : outcome });
          seconds.observe(labels, durationMs / 1_000);
          if (failed) errors.add(labels);
          if (outcome === 'terminal') terminal.add(labels);
          if (outcome === 'panic') panics.add(labels);
        },
      };
    },
  };
}
