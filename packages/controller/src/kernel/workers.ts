import { type ReconcileResult, runWorkers, WorkQueue } from '@spotalis/kube';
import type { Logger, Metrics } from '@spotalis/runtime';
import { reconcileMetrics, workqueueMetrics } from '@spotalis/runtime';

export interface WorkersOptions {
  readonly name: string;
  readonly concurrency: number;
  readonly reconcile: (key: string) => Promise<ReconcileResult | undefined>;
}

/** A queue and those who work on it. Keys may be added before the start. */
export class Workers {
  readonly queue: WorkQueue;
  readonly #start: (reconcile: WorkersOptions['reconcile']) => Promise<void>;
  #running: Promise<void> | undefined;

  constructor(queue: WorkQueue, start: (reconcile: WorkersOptions['reconcile']) => Promise<void>) {
    this.queue = queue;
    this.#start = start;
  }

  start(reconcile: WorkersOptions['reconcile']): void {
    this.#running ??= this.#start(reconcile);
  }

  /** Resolves when the last worker has put down what it had. */
  async stop(): Promise<void> {
    await this.queue.shutdown({ drain: false });
    await this.#running;
  }
}

export type WorkersMaker = (name: string, concurrency: number) => Workers;

/** Makes queues with workers, measured under controller-runtime's names. */
export function workersMaker(metrics: Metrics, logger: Logger): WorkersMaker {
  const queues = workqueueMetrics(metrics);
  const reconciles = reconcileMetrics(metrics);
  return (name: string, concurrency: number): Workers => {
    const queue = new WorkQueue({ observer: queues.observer(name) });
    queues.watchUnfinished(name, () => queue.unfinishedMs);
    const observer = {
      ...reconciles.observer(name, concurrency),
      failed: (key: string, error: Error, outcome: string): void =>
        logger[outcome === 'panic' ? 'error' : 'warn']('reconcile failed', { controller: name, key, error }),
    };
    return new Workers(queue, (reconcile) => runWorkers({ queue, concurrency, reconcile, observer }));
  };
}
