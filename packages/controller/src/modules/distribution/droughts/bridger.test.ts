import { describe, expect, it } from '@jest/globals';
import type { Breaker, RebalanceTrace, StuckReference } from '@spotalis/core';
import { LedgerUnavailable, type StoredBreaker } from '@spotalis/ledger';
import type { Logger } from '@spotalis/runtime';
import type { Outcome } from '../../../kernel/disruption/executor.ts';
import { Arbiter } from '../../../kernel/disruption/arbiter.ts';
import { Executor } from '../../../kernel/disruption/executor.ts';
import { Register } from '../../../kernel/disruption/register.ts';
import { Holds } from '../../../kernel/disruption/holds.ts';
import { DroughtNarrator } from './narrator.ts';
import { aDeployment } from '../../../testing/objects.ts';
import { aRunner } from '../../../testing/runner.ts';
import type { OpenModule, Outcome as Settlement } from '../../../kernel/module.ts';
import { decisionOf, type Effect, type RebalanceDecision } from '../moves/decision.ts';
import { Bridger } from './bridger.ts';

const logger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => logger,
};
const workload = aDeployment();
const stored: StoredBreaker = { state: 'closed', version: 4 };
const opened: Breaker = { state: 'open', sinceMs: 0, openedAtMs: 9, backoffMs: 60_000, early: true };
const stuck = (count: number): StuckReference[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `p${index}`,
    uid: `u${index}`,
    resourceVersion: '1',
    sinceMs: 0,
  }));
const trace: RebalanceTrace = {
  verdict: { kind: 'nothing' },
  reason: 'FallbackStarted',
  facts: { waiting: 3, sinceMs: 0, removed: 3, told: false, nextProbeAtMs: 60_000 },
  standing: null,
  drought: 'closed',
  waiting: {},
};

function stage(
  script: {
    outcome?: Outcome;
    write?: boolean | Error;
    serving?: boolean;
    mayAct?: (log: readonly string[]) => boolean;
    limit?: number;
  } = {},
) {
  const log: string[] = [];
  const { outcome = { kind: 'evicted' }, write = true, serving = true, mayAct = () => true } = script;
  const holds = new Holds(() => 0);
  const register = new Register();
  const now = () => 10_000;
  const arbiter = new Arbiter({
    register,
    budgets: () => ({
      maxInFlight: { cluster: 1, namespace: 1, node: 1 },
      maxMovesPerMinute: 1,
      maxRemovalsPerMinute: script.limit ?? 300,
    }),
    wake: () => undefined,
    now,
  });
  const executor = new Executor({
    arbiter,
    register,
    holds,
    stateOf: () => ({ replicas: undefined, pods: [] }),
    evictor: {
      evict: () => Promise.reject(new Error('no pod that has run is to go')),
      removeUnscheduled: (namespace, pod) => {
        log.push(`remove ${namespace}/${pod.name}`);
        return Promise.resolve(outcome);
      },
    },
    onCount: () => undefined,
    moveTimeoutMs: () => 600_000,
    now,
    logger,
  });
  const bridger = new Bridger({
    droughts: {
      write: (_workload, next, expected) => {
        log.push(`${next.breaker.state} over ${expected.version}`);
        return write instanceof Error ? Promise.reject(write) : Promise.resolve(write);
      },
    },
    probe: {
      ask: () => {
        if (script.mayAct) log.push('asked');
        return Promise.resolve(
          serving ? { kind: 'serving' } : { kind: 'notServing', detail: 'no ready endpoint' },
        );
      },
    },
    holds,
    narrator: new DroughtNarrator({
      recorder: { record: ({ reason }) => log.push(`Event ${reason}`) },
      metrics: { removed: () => undefined, returned: () => undefined },
      logger,
      now: () => 10_000,
    }),
    settings: () => ({ placement: {} }) as never,
    now,
  });
  const outcomes: Settlement[] = [];
  const reading = { workload, ledger: { kind: 'reachable', counts: new Map(), breaker: stored } } as const;
  /** One look that has decided so. */
  const bridge = async (count: number, next: Breaker | null = opened) => {
    const verdict = {
      kind: 'bridge',
      next: next && { breaker: next, permits: 0 },
      remove: stuck(count),
    } as const;
    const decision = decisionOf({ ...trace, verdict }, workload, now());
    const module: OpenModule<RebalanceDecision, RebalanceTrace, Effect> = {
      subjects: () => [],
      follow: () => () => undefined,
      snapshot: () => decision,
      decide: () => decision,
      apply: async (_subject, effect, may) =>
        effect.kind === 'bridge' ? bridger.bridge(reading, effect, may) : {},
      removed: (_subject, _trace, pod) => bridger.removed(workload, { ...pod, sinceMs: 0 }),
      settled(_subject, _decision, _intent, became) {
        outcomes.push(became);
        return { decision, againInMs: 500 };
      },
      report: () => undefined,
      forget: () => undefined,
    };
    const runner = aRunner(module, { executor, mayWrite: () => mayAct(log), now });
    return { againInMs: (await runner.look('web'))?.requeueAfterMs, outcome: outcomes.pop() };
  };
  return { log, bridge, taken: () => register.view(1, now()).removed.length };
}

const removals = (log: readonly string[]) => log.filter((line) => line.startsWith('remove')).length;

describe('bridging a drought', () => {
  it('opens the breaker before the first pod goes, and counts each that went', async () => {
    const { log, bridge, taken } = stage();
    await bridge(2);
    expect(taken()).toBe(2);
    expect(log).toEqual(['open over 4', 'Event FallbackStarted', 'remove shop/p0', 'remove shop/p1']);
  });

  it.each([
    ['somebody else wrote the breaker', { write: false }, ['open over 4']],
    [
      'the ledger is out of reach',
      { write: new LedgerUnavailable('LEDGER_TIMEOUT', 'late') },
      ['open over 4'],
    ],
    ['the webhook does not serve', { serving: false }, []],
    ['another leads', { mayAct: () => false }, []],
    [
      'its label is taken away meanwhile',
      { mayAct: (log: readonly string[]) => !log.includes('asked') },
      ['asked'],
    ],
  ])('removes no pod when %s', async (_, script, expected) => {
    const { log, bridge } = stage(script);
    expect(await bridge(2)).toEqual({ againInMs: 500, outcome: undefined });
    expect(log).toEqual(expected);
  });

  it('stops amid many pods when nothing may be done any more', async () => {
    const { log, bridge } = stage({ mayAct: (done) => removals(done) < 10 });
    await bridge(25);
    expect(removals(log)).toBe(10);
  });

  it.each(['gone', 'stale', 'conflict', 'blocked'] as const)(
    'does not count a pod that was %s: it got a node, or nobody needs it',
    async (kind) => {
      const { log, bridge, taken } = stage({ outcome: { kind, message: '' } as Outcome });
      await bridge(1, null);
      expect(log).toEqual(['remove shop/p0']);
      expect(taken()).toBe(0);
    },
  );

  it('counts a pod of which it was not told whether it went', async () => {
    const { bridge, taken } = stage({ outcome: { kind: 'error', error: new Error('reset') } as Outcome });
    await bridge(1, null);
    expect(taken()).toBe(1);
  });

  it('removes no more in a minute than allowed, though many look at once, and says what the rest waits for', async () => {
    const { log, bridge } = stage({ limit: 7 });
    await Promise.all(Array.from({ length: 5 }, () => bridge(5, null)));
    expect(removals(log)).toBe(7);
    expect(await bridge(5, null)).toMatchObject({
      againInMs: 500,
      outcome: {
        count: 0,
        deferral: { reason: 'BudgetSpent', budget: 'removals', used: 7, limit: 7, untilMs: 70_000 },
      },
    });
  });

  it('says how many of the pods were removed', async () => {
    const { bridge } = stage({ limit: 7 });
    expect((await bridge(9, null)).outcome).toMatchObject({ kind: 'removed', count: 7 });
  });

  it('asks more and more seldom when it may not remove', async () => {
    const { log, bridge } = stage({ outcome: { kind: 'forbidden', message: 'no' } });
    await bridge(1, null);
    expect((await bridge(1, null)).againInMs).toBeGreaterThan(1_000);
    expect(log).toEqual(['remove shop/p0']);
  });
});
