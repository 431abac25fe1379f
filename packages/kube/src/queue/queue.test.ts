import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { LOW_PRIORITY, WorkQueue } from './queue.ts';

const numRuns = Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000);

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

const makeQueue = (): WorkQueue => new WorkQueue({ now: () => Date.now() });

async function takeAll(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    keys.push((await queue.take())!);
  }
  return keys;
}

describe('WorkQueue', () => {
  it('holds a key once, in the order of its first addition', async () => {
    const queue = makeQueue();
    for (const key of ['a', 'b', 'a', 'c', 'b']) {
      queue.add(key);
    }
    expect(await takeAll(queue)).toEqual(['a', 'b', 'c']);
  });

  it('hands out normal before low, and raises a key that is added again with more', async () => {
    const queue = makeQueue();
    queue.add('slow', { priority: LOW_PRIORITY });
    queue.add('raised', { priority: LOW_PRIORITY });
    queue.add('normal');
    queue.add('raised');
    queue.add('normal', { priority: LOW_PRIORITY });
    expect(await takeAll(queue)).toEqual(['normal', 'raised', 'slow']);
  });

  it('gives a key added during its work back after that, never to a second worker', async () => {
    const queue = makeQueue();
    queue.add('a');
    await queue.take();
    queue.add('a');
    queue.add('a');
    expect(queue.depth).toBe(0);
    queue.done('a');
    expect(await takeAll(queue)).toEqual(['a']);
  });

  it('wakes a waiting worker', async () => {
    const queue = makeQueue();
    const taken = queue.take();
    queue.add('a');
    expect(await taken).toBe('a');
    expect(queue.depth).toBe(0);
  });

  it('delays a key, and the earliest of several times counts', async () => {
    const queue = makeQueue();
    queue.add('a', { afterMs: 1_000 });
    queue.add('a', { afterMs: 200 });
    queue.add('a', { afterMs: 5_000 });
    await jest.advanceTimersByTimeAsync(199);
    expect(queue.depth).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(await takeAll(queue)).toEqual(['a']);
    queue.done('a');
    await jest.advanceTimersByTimeAsync(10_000);
    expect(queue.depth).toBe(0);
  });

  it('does not wait with a key that is wanted now', async () => {
    const queue = makeQueue();
    queue.add('a', { afterMs: 1_000 });
    queue.add('a', { priority: LOW_PRIORITY });
    queue.add('b', { priority: LOW_PRIORITY });
    queue.add('c');
    queue.add('c', { afterMs: 1_000 });
    expect(await takeAll(queue)).toEqual(['a', 'c', 'b']);
  });

  it('does not fire at once for a delay longer than a timer can be', async () => {
    const queue = makeQueue();
    queue.add('a', { afterMs: 2 ** 40 });
    await jest.advanceTimersByTimeAsync(1_000);
    expect(queue.depth).toBe(0);
    await queue.shutdown({ drain: false });
  });

  it('waits 5 ms doubling to 1000 s per key, and starts again when forgotten', async () => {
    const queue = makeQueue();
    const waits: number[] = [];
    for (let i = 0; i < 20; i++) {
      const startMs = Date.now();
      queue.addRateLimited('a');
      await jest.advanceTimersToNextTimerAsync();
      waits.push(Date.now() - startMs);
      await queue.take();
      queue.done('a');
    }
    expect(waits.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(waits.slice(-2)).toEqual([1_000_000, 1_000_000]);
    queue.forget('a');
    const startMs = Date.now();
    queue.addRateLimited('a');
    await jest.advanceTimersToNextTimerAsync();
    expect(Date.now() - startMs).toBe(5);
  });

  it('closes at once: nothing ready is handed out, delays are dropped, running work is waited for', async () => {
    const queue = makeQueue();
    queue.add('running');
    await queue.take();
    queue.add('ready');
    queue.add('later', { afterMs: 10 });
    const seen: string[] = [];
    const shutdown = queue.shutdown({ drain: false }).then(() => seen.push('closed'));
    expect(await queue.take()).toBeUndefined();
    await jest.advanceTimersByTimeAsync(100);
    expect(seen).toEqual([]);
    queue.done('running');
    await shutdown;
    queue.add('late');
    expect(queue.depth).toBe(0);
  });

  it('drains: what is ready is still handed out, and so is what came back during its work', async () => {
    const queue = makeQueue();
    queue.add('a');
    queue.add('b');
    await queue.take();
    queue.add('a');
    const shutdown = queue.shutdown({ drain: true });
    expect(await queue.take()).toBe('b');
    queue.done('b');
    queue.done('a');
    expect(await queue.take()).toBe('a');
    queue.done('a');
    await shutdown;
    expect(await queue.take()).toBeUndefined();
  });

  it('releases workers that wait when it shuts down', async () => {
    const queue = makeQueue();
    const waiting = [queue.take(), queue.take()];
    await queue.shutdown({ drain: true });
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
  });

  it('tells what it does, every key once', async () => {
    const seen: string[] = [];
    const queue = new WorkQueue({
      now: () => Date.now(),
      observer: {
        added: () => seen.push('added'),
        retried: () => seen.push('retried'),
        started: (waitedMs) => seen.push(`started ${waitedMs}`),
        finished: (workedMs) => seen.push(`finished ${workedMs}`),
      },
    });
    queue.add('a');
    queue.add('a');
    await jest.advanceTimersByTimeAsync(30);
    await queue.take();
    await jest.advanceTimersByTimeAsync(20);
    expect(queue.unfinishedMs).toEqual({ total: 20, longest: 20 });
    queue.done('a');
    queue.addRateLimited('a');
    await jest.advanceTimersByTimeAsync(5);
    expect(seen).toEqual(['added', 'started 30', 'finished 20', 'retried', 'added']);
  });

  it('loses no key and never gives one to two workers, whatever is done in whatever order', async () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), key, priority: fc.constantFrom(0, LOW_PRIORITY) }),
      fc.record({ do: fc.constant('delay' as const), key, afterMs: fc.nat(50) }),
      fc.record({ do: fc.constant('fail' as const), key }),
      fc.record({ do: fc.constant('take' as const) }),
      fc.record({ do: fc.constant('done' as const), key }),
      fc.record({ do: fc.constant('pass' as const), ms: fc.nat(60) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const queue = makeQueue();
        const working = new Set<string>();
        /** Asked for, and not handed out since. */
        const wanted = new Set<string>();
        const take = async (): Promise<void> => {
          const taken = (await queue.take())!;
          expect(working.has(taken)).toBe(false);
          working.add(taken);
          wanted.delete(taken);
        };
        for (const one of steps) {
          if (one.do === 'add') {
            queue.add(one.key, { priority: one.priority });
            wanted.add(one.key);
          } else if (one.do === 'delay') {
            queue.add(one.key, { afterMs: one.afterMs });
            wanted.add(one.key);
          } else if (one.do === 'fail') {
            queue.addRateLimited(one.key);
            wanted.add(one.key);
          } else if (one.do === 'take' && queue.depth > 0) {
            await take();
          } else if (one.do === 'done') {
            queue.done(one.key);
            working.delete(one.key);
          } else if (one.do === 'pass') {
            jest.advanceTimersByTime(one.ms);
          }
        }
        for (const one of working) {
          queue.done(one);
        }
        working.clear();
        jest.advanceTimersByTime(2_000_000);
        while (queue.depth > 0) {
          await take();
        }
        expect([...wanted]).toEqual([]);
      }),
      { numRuns },
    );
  });
});
