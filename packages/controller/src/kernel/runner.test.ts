import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { EvictIntent } from '@spotalis/core';
import { silent } from '../testing/objects.ts';
import { aRunner } from '../testing/runner.ts';
import type { RunnerParts } from './runner.ts';
import type { Answer, Executor } from './disruption/executor.ts';
import type { Decision, OpenModule, Outcome } from './module.ts';

type Trace = string;
type Effect = string;
type Decided = Decision<Trace, Effect>;

const intent: EvictIntent = {
  kind: 'evict',
  id: 'toys/a',
  module: 'toys',
  rank: 5,
  subject: 'toys/a',
  sinceMs: 0,
  workload: { uid: 'web', namespace: 'shop' },
  pod: { name: 'web-1', uid: 'web-1-uid', resourceVersion: '1' },
  node: null,
};
const settle = () => new Promise((resolve) => setImmediate(resolve));

const decided = (trace: Trace, change: Partial<Decided> = {}): Decided => ({
  trace,
  effects: [],
  intents: [],
  againAtMs: null,
  ...change,
});
const asks = decided('asks', { intents: [intent], effects: ['mark'] });

/** `decisions`: what is decided, one after another; the last one for ever. */
function running(
  decisions: readonly (Decided | null)[],
  answer: (confirm: () => Promise<unknown>) => Promise<Answer>,
  change: Partial<OpenModule<number, Trace, Effect>> = {},
  parts: Partial<Pick<RunnerParts, 'isAvailable' | 'logger'>> = {},
) {
  const log: string[] = [];
  let index = 0;
  const executor: Pick<Executor, 'evict' | 'remove' | 'withdraw'> = {
    evict: (_intent, confirm) => answer(confirm),
    remove: () => Promise.reject(new Error('no removal')),
    withdraw: (id) => void log.push(`withdraw ${id}`),
  };
  const module: OpenModule<number, Trace, Effect> = {
    subjects: () => ['a'],
    follow: () => () => undefined,
    read: async (_subject, why) => void log.push(`read ${why}`),
    snapshot: () => (decisions[Math.min(index, decisions.length - 1)] === null ? null : index),
    decide: () => decisions[Math.min(index++, decisions.length - 1)] ?? decided('none'),
    apply: async (_subject, effect) => {
      log.push(`apply ${effect}`);
      return {};
    },
    settled(_subject, decision, _intent, outcome: Outcome) {
      log.push(`settled ${outcome.kind}`);
      const isDeferred = outcome.kind === 'deferred';
      return { decision: isDeferred ? decided(`waits: ${outcome.deferral.reason}`) : decision };
    },
    report: (_subject, trace) => {
      log.push(`report ${trace}`);
      return undefined;
    },
    forget: () => void log.push('forget'),
    ...change,
  };
  const runner = aRunner(module, { name: 'toys', executor, ...parts });
  return { runner, log };
}

const sent: Answer = { kind: 'sent', outcome: { kind: 'evicted' } };

describe('a look', () => {
  it('reads, decides, applies, asks, looks anew when it is granted, settles and reports, in this order', async () => {
    const { runner, log } = running([asks], async (confirm) => {
      expect(await confirm()).toMatchObject({ intent });
      return sent;
    });
    await runner.look('a');
    expect(log).toEqual(['read look', 'apply mark', 'read grant', 'settled sent', 'report asks']);
  });

  it('observes and decides in one go, whoever else is looked at', async () => {
    const steps: string[] = [];
    const { runner } = running([decided('rests')], async () => sent, {
      observe: (subject) => void steps.push(`observe ${subject}`),
      snapshot: (subject) => {
        steps.push(`snapshot ${subject}`);
        return 0;
      },
    });
    await Promise.all([runner.look('a'), runner.look('b')]);
    expect(steps).toEqual(['observe a', 'snapshot a', 'observe b', 'snapshot b']);
  });

  it('reports what it waits for when what it asks for is deferred', async () => {
    const busy = { reason: 'WorkloadBusy', by: 'distribution', sinceMs: 0 } as const;
    const { runner, log } = running([asks], async () => ({ kind: 'deferred', deferral: busy }));
    await runner.look('a');
    expect(log.at(-1)).toBe('report waits: WorkloadBusy');
  });

  it('gives a grant back that a fresh look does not confirm, and carries out what is decided instead', async () => {
    const instead = decided('instead', { effects: ['other'] });
    const { runner, log } = running([asks, instead], async (confirm) => {
      expect(await confirm()).toBeNull();
      return { kind: 'cancelled' };
    });
    await runner.look('a');
    expect(log.slice(-2)).toEqual(['apply other', 'report instead']);
  });

  it('comes back soon when the subject changed while a grant was confirmed', async () => {
    const { runner, log } = running([asks, null], async (confirm) => {
      expect(await confirm()).toBeNull();
      return { kind: 'cancelled' };
    });
    expect(await runner.look('a')).toEqual({ requeueAfterMs: 500 });
    expect(log.at(-1)).toBe('report asks');
  });

  it('takes back what was asked for when it is not wanted any more, and forgets what is gone', async () => {
    const busy = { reason: 'WorkloadBusy', by: null, sinceMs: 0 } as const;
    const { runner, log } = running([asks, null], async () => ({ kind: 'deferred', deferral: busy }));
    await runner.look('a');
    log.splice(0);
    expect(await runner.look('a')).toBeUndefined();
    expect(log).toEqual(['read look', 'withdraw toys/a', 'forget']);
  });

  it('takes back what it could not ask for again before it was not wanted any more', async () => {
    const busy = { reason: 'WorkloadBusy', by: null, sinceMs: 0 } as const;
    let isHeld = false;
    const { runner, log } = running([asks, asks, null], async () => ({ kind: 'deferred', deferral: busy }), {
      apply: async () => ({ isHeld }),
    });
    await runner.look('a');
    isHeld = true;
    await runner.look('a');
    expect(log).not.toContain('withdraw toys/a');
    await runner.look('a');
    expect(log).toContain('withdraw toys/a');
  });

  it('takes back nothing that was carried out', async () => {
    const busy: Answer = { kind: 'deferred', deferral: { reason: 'WorkloadBusy', by: null, sinceMs: 0 } };
    const answers = [busy, sent];
    const { runner, log } = running([asks, asks, null], async () => answers.shift() ?? sent);
    for (let look = 0; look < 3; look++) await runner.look('a');
    expect(log).not.toContain('withdraw toys/a');
  });

  it('takes back what was asked for when the resources of the module cannot be read any more', async () => {
    const busy = { reason: 'WorkloadBusy', by: null, sinceMs: 0 } as const;
    let isAvailable = true;
    const { runner, log } = running(
      [asks],
      async () => ({ kind: 'deferred', deferral: busy }),
      {},
      { isAvailable: () => isAvailable },
    );
    await runner.look('a');
    isAvailable = false;
    log.splice(0);
    await runner.look('a');
    expect(log).toEqual(['withdraw toys/a']);
  });

  it('takes back what was asked for of a workload that was made anew under its name', async () => {
    const busy = { reason: 'WorkloadBusy', by: null, sinceMs: 0 } as const;
    const anew = decided('asks', { intents: [{ ...intent, workload: { uid: 'new', namespace: 'shop' } }] });
    const deferred = async (): Promise<Answer> => ({ kind: 'deferred', deferral: busy });
    const { runner, log } = running([asks, asks, anew], deferred);
    await runner.look('a');
    await runner.look('a');
    expect(log).not.toContain('withdraw toys/a');
    await runner.look('a');
    expect(log).toContain('withdraw toys/a');
  });

  it('asks for nothing twice', async () => {
    let asked = 0;
    const { runner } = running(
      [asks],
      async () => {
        asked++;
        return { kind: 'overtaken' };
      },
      { settled: () => ({ decision: { ...asks } }) },
    );
    await runner.look('a');
    expect(asked).toBe(1);
  });
});

describe('a module that takes over', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('decides and reports at once, and carries nothing out until it has', async () => {
    let taken: (leave: () => void) => void = () => undefined;
    let left = false;
    const { runner, log } = running([asks], async () => sent, {
      lead: () => new Promise((resolve) => (taken = resolve)),
    });
    runner.start();
    await settle();
    expect(log).toEqual(['read look', 'settled deferred', 'report waits: TakingOver']);
    log.splice(0);
    taken(() => (left = true));
    await settle();
    expect(log).toContain('settled sent');
    await runner.stop();
    expect(left).toBe(true);
  });

  it('does not mean to try again when it is stopped meanwhile', async () => {
    const warnings: string[] = [];
    const { runner } = running(
      [asks],
      async () => sent,
      {
        lead: (signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new Error('aborted')));
          }),
      },
      { logger: { ...silent, warn: (message) => void warnings.push(message) } },
    );
    runner.start();
    await settle();
    await runner.stop();
    expect(warnings).toEqual([]);
  });

  it('tries again when that fails', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    let tries = 0;
    const { runner, log } = running([asks], async () => sent, {
      lead: async () => {
        if (++tries === 1) throw new Error('the API server is away');
        return () => undefined;
      },
    });
    runner.start();
    await settle();
    expect(log).not.toContain('settled sent');
    await jest.advanceTimersByTimeAsync(5_000);
    await settle();
    expect(tries).toBe(2);
    expect(log).toContain('settled sent');
    await runner.stop();
  });
});
