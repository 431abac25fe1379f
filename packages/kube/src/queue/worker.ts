import { asError, KubeError } from '../errors.ts';
import type { WorkQueue } from './queue.ts';

/** What a reconcile may ask for. Nothing: done until something happens. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

/** Thrown by a reconcile that no repetition will help. The key waits for its next event. */
export class TerminalError extends KubeError {
  override readonly name = 'TerminalError';
  readonly code = 'KUBE_TERMINAL';
  readonly retryable = false;
}

/** For controller_runtime_reconcile_*. `panic`: something other than an Error was thrown, or a programming error. */
export type ReconcileOutcome = 'success' | 'requeue_after' | 'error' | 'terminal' | 'panic';

export interface WorkerObserver {
  active?(workers: number): void;
  reconciled?(outcome: ReconcileOutcome, durationMs: number): void;
  failed?(key: string, error: Error, outcome: 'error' | 'terminal' | 'panic'): void;
}

export interface WorkerOptions {
  readonly queue: WorkQueue;
  readonly concurrency: number;
  readonly reconcile: (key: string) => Promise<ReconcileResult | undefined>;
  readonly observer?: WorkerObserver;
}

/** Runs workers until the queue is shut down. Resolves when the last one has returned; never rejects. */
export async function runWorkers(options: WorkerOptions): Promise<void> {
  let active = 0;
  const count = (by: 1 | -1): void => {
    active += by;
    options.observer?.active?.(active);
  };
  const worker = async (): Promise<void> => {
    for (let key = await options.queue.take(); key !== undefined; key = await options.queue.take()) {
      count(1);
      await work(options, key);
      count(-1);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
}

async function work({ queue, reconcile, observer }: WorkerOptions, key: string): Promise<void> {
  const startedMs = performance.now();
  let outcome: ReconcileOutcome;
  try {
    const result = await reconcile(key);
    queue.forget(key);
    outcome = result?.requeueAfterMs === undefined ? 'success' : 'requeue_after';
    if (result?.requeueAfterMs !== undefined) {
      queue.add(key, { afterMs: result.requeueAfterMs });
    }
  } catch (thrown) {
    outcome = outcomeOf(thrown);
    if (outcome === 'terminal') {
      queue.forget(key);
    } else {
      queue.addRateLimited(key);
    }
    observer?.failed?.(key, asError(thrown), outcome);
  } finally {
    queue.done(key);
  }
  observer?.reconciled?.(outcome, performance.now() - startedMs);
}

function outcomeOf(thrown: unknown): 'error' | 'terminal' | 'panic' {
  if (thrown instanceof TerminalError) {
    return 'terminal';
  }
  const isBug =
    thrown instanceof TypeError || thrown instanceof ReferenceError || thrown instanceof RangeError;
  return thrown instanceof Error && !isBug ? 'error' : 'panic';
}
