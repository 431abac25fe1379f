import { describe, expect, it } from '@jest/globals';
import { type Budgets, evictionFor, type EvictIntent, type Rank } from '@spotalis/core';
import type { Logger } from '@spotalis/runtime';
import * as fc from 'fast-check';
import { Arbiter } from './arbiter.ts';
import type { Outcome } from './evictor.ts';
import { type Confirmed, Executor } from './executor.ts';
import { Holds } from './holds.ts';
import { type DisruptionHooks, Register } from './register.ts';

const logger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => logger,
};
const wide: Budgets = {
  maxInFlight: { cluster: 100, namespace: 100, node: 100 },
  maxMovesPerMinute: 100,
  maxRemovalsPerMinute: 100,
};

interface Where {
  readonly namespace?: string;
  readonly node?: string;
  readonly pod?: string;
  readonly rank?: Rank;
}

function kernel(limits: Partial<Budgets> = {}) {
  const clock = { nowMs: 1_000_000 };
  const now = (): number => clock.nowMs;
  const register = new Register();
  const gone = new Set<string>();
  const woken: string[] = [];
  const evicted: string[] = [];
  const script = { outcome: (_pod: string): Promise<Outcome> => Promise.resolve({ kind: 'evicted' }) };
  const arbiter = new Arbiter({
    register,
    budgets: () => ({ ...wide, ...limits }),
    wake: (subject) => woken.push(subject),
    now,
  });
  const executor = new Executor({
    arbiter,
    register,
    holds: new Holds(() => 0),
    evictor: {
      evict(_namespace, { name }) {
        evicted.push(name);
        return script.outcome(name);
      },
      removeUnscheduled: () => Promise.resolve({ kind: 'evicted' }),
    },
    stateOf: (uid) => ({ replicas: gone.has(uid) ? undefined : 1, pods: [] }),
    onCount: () => undefined,
    moveTimeoutMs: () => 600_000,
    now,
    logger,
  });
  const intentOf = (
    name: string,
    { namespace = 'shop', node = `on-${name}`, pod = name, rank }: Where = {},
  ) => {
    const asker = { subject: name, disrupts: { uid: name, namespace }, nowMs: now() };
    const reference = { name: pod, uid: `${pod}-uid`, resourceVersion: '1' };
    const move = {
      pod: reference,
      from: 'spot',
      to: 'on-demand',
      node,
      evidence: 'od',
      pdb: null,
      trial: false,
    } as const;
    const intent = evictionFor(asker, 'SpotSurplus', move);
    return rank === undefined ? intent : { ...intent, rank };
  };
  const confirmedOf = (intent: EvictIntent, hooks: DisruptionHooks = {}): Confirmed => ({
    intent,
    room: null,
    hasPdb: false,
    hooks,
  });
  const evict = (name: string, where: Where = {}, confirm?: () => Promise<Confirmed | null>) => {
    const intent = intentOf(name, where);
    return executor.evict(intent, confirm ?? (() => Promise.resolve(confirmedOf(intent))));
  };
  const evictWith = (name: string, hooks: DisruptionHooks) => {
    const intent = intentOf(name);
    return executor.evict(intent, () => Promise.resolve(confirmedOf(intent, hooks)));
  };
  /** Its workload is gone. */
  const end = (name: string): void => {
    gone.add(name);
    executor.follow(name);
    gone.delete(name);
  };
  return {
    clock,
    register,
    executor,
    arbiter,
    woken,
    evicted,
    script,
    intentOf,
    confirmedOf,
    evict,
    evictWith,
    end,
  };
}

const one = { maxInFlight: { cluster: 1, namespace: 1, node: 1 } };

describe('an eviction', () => {
  it('spends its budget from the grant on, before anything is known for sure', async () => {
    const { evict, evicted } = kernel(one);
    const [first, second] = await Promise.all([evict('a'), evict('b')]);
    expect(first).toMatchObject({ kind: 'sent' });
    expect(second).toMatchObject({
      kind: 'deferred',
      deferral: { reason: 'BudgetSpent', budget: 'cluster' },
    });
    expect(evicted).toEqual(['a']);
  });

  it('begins only if its module says so then, which hears what the API server refused', async () => {
    const { evict, evictWith, evicted, register, script, clock } = kernel();
    let isTried = false;
    const trial: DisruptionHooks = {
      mayBegin: () => !isTried,
      began() {
        isTried = true;
        return () => (isTried = false);
      },
    };
    script.outcome = () => Promise.resolve({ kind: 'blocked', message: 'no' });
    expect(await evictWith('a', trial)).toMatchObject({ kind: 'sent', outcome: { kind: 'blocked' } });
    script.outcome = () => Promise.resolve({ kind: 'evicted' });
    const answers = await Promise.all([evictWith('b', trial), evictWith('c', trial), evict('d')]);
    expect(answers.map(({ kind }) => kind)).toEqual(['sent', 'overtaken', 'sent']);
    expect(evicted).toEqual(['a', 'b', 'd']);
    expect(register.view(100, clock.nowMs).begun).toHaveLength(2);
  });

  it('whose answer is still to come is not over, whatever becomes of its workload meanwhile', async () => {
    const { evictWith, end, register, script } = kernel();
    const ends: string[] = [];
    let answer: (outcome: Outcome) => void = () => undefined;
    script.outcome = () => new Promise((resolve) => (answer = resolve));
    const evicted = evictWith('a', { ended: (result) => ends.push(result) });
    await new Promise((resolve) => setImmediate(resolve));
    end('a');
    expect(register.count).toBe(1);
    answer({ kind: 'evicted' });
    await evicted;
    end('a');
    expect(ends).toEqual(['superseded']);
    expect(register.count).toBe(0);
  });

  it('ends where nobody looks at its workload, too, and its module hears how', async () => {
    const { evictWith, executor, register, clock } = kernel();
    const ends: string[] = [];
    await evictWith('a', { judge: () => undefined, ended: (result) => ends.push(result) });
    clock.nowMs += 599_999;
    executor.followAll();
    expect(register.count).toBe(1);
    clock.nowMs += 1;
    executor.followAll();
    expect(ends).toEqual(['timeout']);
    expect(register.count).toBe(0);
  });

  it('is reserved for the next who waits when another ends, and that one is woken', async () => {
    const { evict, end, woken, evicted, register } = kernel(one);
    await evict('a');
    await evict('b');
    end('a');
    expect(woken).toEqual(['b']);
    expect(register.reservationOf('b')).toMatchObject({ id: 'b' });
    expect(await evict('c')).toMatchObject({ kind: 'deferred' });
    expect(await evict('b')).toMatchObject({ kind: 'sent' });
    expect(evicted).toEqual(['a', 'b']);
  });

  it.each([
    ['a fresh look does not confirm it', () => Promise.resolve(null)],
    ['the fresh look fails', () => Promise.reject(new Error('the API server is away'))],
  ])('gives its budget back when %s', async (_when, confirm) => {
    const { evict, woken, evicted, register } = kernel(one);
    const first = evict('a', {}, confirm);
    await evict('b');
    await first.catch(() => undefined);
    expect(evicted).toEqual([]);
    expect(woken).toEqual(['b']);
    expect(register.view(100, 1_000_000).begun).toHaveLength(1);
  });

  it('of another pod than the one that was granted is granted anew, for what its node has left', async () => {
    const { evict, evicted, intentOf, confirmedOf, register } = kernel({
      maxInFlight: { ...wide.maxInFlight, node: 1 },
    });
    await evict('a', { node: 'n1' });
    const other = (node: string) => () => Promise.resolve(confirmedOf(intentOf('b', { pod: 'b2', node })));
    expect(await evict('b', { node: 'n2' }, other('n1'))).toMatchObject({
      kind: 'deferred',
      deferral: { budget: 'node' },
    });
    expect(register.reservationOf('b')).toBeUndefined();
    expect(await evict('b', { node: 'n2' }, other('n3'))).toMatchObject({ kind: 'sent' });
    expect(evicted).toEqual(['a', 'b2']);
  });

  it('that was refused gives its budget back, and one without an answer does not', async () => {
    const { evict, woken, script } = kernel(one);
    script.outcome = () => Promise.resolve({ kind: 'blocked', message: 'no' });
    const refused = evict('a');
    await evict('b');
    await refused;
    expect(woken).toEqual(['b']);
    const { evict: ask, woken: wakes, script: answers } = kernel(one);
    answers.outcome = () => Promise.resolve({ kind: 'error', error: new Error('reset'), retryable: true });
    await ask('a');
    await ask('b');
    expect(wakes).toEqual([]);
  });

  it('that nobody wants any more makes room for others', async () => {
    const { evict, end, executor, woken } = kernel(one);
    await evict('a');
    await evict('b');
    await evict('c');
    end('a');
    expect(woken).toEqual(['b']);
    executor.withdraw('b', 'b');
    expect(woken).toEqual(['b', 'c']);
    executor.withdraw('c', 'c');
    executor.withdraw('b', 'b');
    expect(await evict('d')).toMatchObject({ kind: 'sent' });
  });

  it('that was granted to somebody who does not come is free again after a minute', async () => {
    const { evict, end, clock } = kernel({ ...one, maxMovesPerMinute: 100 });
    await evict('a');
    await evict('b');
    end('a');
    clock.nowMs += 60_000;
    expect(await evict('c')).toMatchObject({ kind: 'deferred' });
    clock.nowMs += 1;
    expect(await evict('c')).toMatchObject({ kind: 'sent' });
  });

  it('of a lower rank is reserved first, however long others have waited', async () => {
    const { evict, end, woken, clock } = kernel(one);
    await evict('a');
    await evict('b');
    clock.nowMs += 1_000;
    await evict('urgent', { rank: 1 });
    end('a');
    expect(woken).toEqual(['urgent']);
  });
});

describe('in any interleaving of looks, answers and ends', () => {
  it('evictions never exceed a budget, and a workload has one at a time', async () => {
    let most = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.record({ cluster: fc.integer({ min: 1, max: 4 }), perMinute: fc.integer({ min: 1, max: 12 }) }),
        fc.array(
          fc.record({
            workload: fc.nat(5),
            looks: fc.constantFrom('same', 'same', 'other', 'nothing', 'fails'),
            answers: fc.constantFrom<Outcome['kind']>('evicted', 'evicted', 'gone', 'stale', 'fenced'),
          }),
          { minLength: 1, maxLength: 20 },
        ),
        async (scheduler, { cluster, perMinute }, asks) => {
          const limits = {
            maxInFlight: { cluster, namespace: 2, node: 1 },
            maxMovesPerMinute: perMinute,
          };
          const { evict, end, script, intentOf, confirmedOf, register } = kernel(limits);
          const going: EvictIntent[] = [];
          let begun = 0;
          let spent = 0;
          const faults: string[] = [];
          const atOf = (workload: number): Where => ({
            namespace: `ns${workload % 2}`,
            node: `n${workload % 4}`,
          });
          script.outcome = async (sent) => {
            const answers = asks[begun % asks.length]?.answers ?? 'evicted';
            const mine = intentOf(sent.replace('-other', ''), atOf(Number(sent.slice(1, 2))));
            going.push(mine);
            begun++;
            spent++;
            const same = (key: (one: EvictIntent) => unknown) =>
              going.filter((other) => key(other) === key(mine)).length;
            if (same(({ workload: { uid } }) => uid) > 1) faults.push('two of one workload');
            if (going.length > cluster) faults.push('cluster');
            if (same(({ workload: { namespace } }) => namespace) > 2) faults.push('namespace');
            if (same(({ node }) => node) > 1) faults.push('node');
            if (spent > perMinute) faults.push('minute');
            most = Math.max(most, going.length);
            await scheduler.schedule(Promise.resolve(), `answer to ${sent}`);
            const leave = (): void => void going.splice(going.indexOf(mine), 1);
            if (answers === 'evicted' || answers === 'gone') {
              void scheduler.schedule(Promise.resolve(), `end of ${sent}`).then(() => {
                leave();
                end(mine.workload.uid);
              });
            } else {
              leave();
              spent--;
            }
            return { kind: answers } as Outcome;
          };
          for (const [index, { workload, looks }] of asks.entries()) {
            const name = `w${workload}`;
            const pod = looks === 'other' ? `${name}-other` : name;
            const intent = intentOf(name, { ...atOf(workload), pod });
            const confirm = async (): Promise<Confirmed | null> => {
              await scheduler.schedule(Promise.resolve(), `look ${index}`);
              if (looks === 'fails') throw new Error('away');
              return looks === 'nothing' ? null : confirmedOf(intent);
            };
            void scheduler.schedule(Promise.resolve(), `ask ${index}`).then(async () => {
              await evict(name, atOf(workload), confirm).catch(() => undefined);
            });
          }
          await scheduler.waitIdle();
          expect(faults).toEqual([]);
          expect(register.count).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
    // Or it would say little.
    expect(most).toBeGreaterThan(2);
  });
});
