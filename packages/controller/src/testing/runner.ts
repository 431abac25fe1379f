import { runWorkers, WorkQueue } from '@spotalis/kube';
import type { OpenModule } from '../kernel/module.ts';
import { Runner, type RunnerParts } from '../kernel/runner.ts';
import { Workers } from '../kernel/workers.ts';
import { silent } from './objects.ts';

type Needs = Pick<RunnerParts, 'executor'> & Partial<RunnerParts>;

/** A runner with a queue and one worker of its own. */
export function aRunner(module: OpenModule, needs: Needs): Runner {
  const queue = new WorkQueue();
  return new Runner({
    name: 'distribution',
    module,
    workers: new Workers(queue, (reconcile) => runWorkers({ queue, concurrency: 1, reconcile })),
    isAvailable: () => true,
    mayWrite: () => true,
    now: () => 0,
    logger: silent,
    ...needs,
  });
}
