import { describe, expect, it } from '@jest/globals';
import { WorkQueue } from './queue.ts';
import { type ReconcileOutcome, type ReconcileResult, runWorkers, TerminalError } from './worker.ts';

async function outcomes(
  act: (attempt: number) => Promise<ReconcileResult | undefined>,
  until: number,
): Promise<{ outcomes: ReconcileOutcome[]; failures: string[] }> {
  const queue = new WorkQueue();
  const seen: ReconcileOutcome[] = [];
  const failures: string[] = [];
  queue.add('a');
  let attempts = 0;
  await runWorkers({
    queue,
    concurrency: 1,
    reconcile: () => act(++attempts),
    observer: {
      failed: (key, error, outcome) => failures.push(`${key} ${outcome} ${error.message}`),
      reconciled: (outcome) => {
        seen.push(outcome);
        if (seen.length === until) {
          void queue.shutdown({ drain: false });
        }
      },
    },
  });
  return { outcomes: seen, failures };
}

describe('runWorkers', () => {
  it('repeats what throws, also what throws no Error, and goes on', async () => {
    const result = await outcomes(async (attempt) => {
      if (attempt === 1) {
        throw new Error('not yet');
      }
      if (attempt === 2) {
        // oxlint-disable-next-line no-throw-literal, only-throw-error
        throw 'a string';
      }
      if (attempt === 3) {
        throw new TypeError('undefined is not a function');
      }
      return undefined;
    }, 4);
    expect(result.outcomes).toEqual(['error', 'panic', 'panic', 'success']);
    expect(result.failures).toEqual([
      'a error not yet',
      'a panic a string',
      'a panic undefined is not a function',
    ]);
  });

  it('survives a reconcile that throws before it returns a promise', async () => {
    const result = await outcomes((attempt) => {
      if (attempt === 1) {
        throw new Error('synchronous');
      }
      return Promise.resolve(undefined);
    }, 2);
    expect(result.outcomes).toEqual(['error', 'success']);
  });

  it('does not repeat a TerminalError', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    queue.add('b');
    const keys: string[] = [];
    await runWorkers({
      queue,
      concurrency: 1,
      reconcile: (key) => {
        keys.push(key);
        return Promise.reject(new TerminalError('never'));
      },
      observer: { reconciled: () => keys.length === 2 && void queue.shutdown({ drain: true }) },
    });
    expect(keys).toEqual(['a', 'b']);
  });

  it('comes back after the time that was asked for', async () => {
    const result = await outcomes(async (attempt) => (attempt === 1 ? { requeueAfterMs: 10 } : undefined), 2);
    expect(result.outcomes).toEqual(['requeue_after', 'success']);
  });

  it('works on several keys at once, and no more than it may', async () => {
    const queue = new WorkQueue();
    for (let i = 0; i < 20; i++) {
      queue.add(`k${i}`);
    }
    let most = 0;
    const workers = runWorkers({
      queue,
      concurrency: 4,
      reconcile: () => new Promise((resolve) => setImmediate(resolve, undefined)),
      observer: {
        active: (count) => {
          most = Math.max(most, count);
        },
      },
    });
    await queue.shutdown({ drain: true });
    await workers;
    expect(most).toBe(4);
  });
});
