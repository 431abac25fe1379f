import { describe, expect, it } from '@jest/globals';
import { readPolicy, type RebalanceSettings, type RebalanceTrace } from '@spotalis/core';
import type { Outcome } from '../../../kernel/disruption/executor.ts';
import { aDeployment, aPod } from '../../../testing/objects.ts';
import { decisionOf } from './decision.ts';
import type { Reading } from './rebalancer.ts';
import { aMove, node, stage, subject } from '../../../testing/rebalancing.ts';

describe('without a node that has room', () => {
  it('has a placeholder prove that there is capacity, moves while it runs, and keeps it until the replacement is scheduled', async () => {
    const { cluster, look, asked, script, proofs } = stage();
    cluster.nodes.remove('od-1');
    cluster.nodes.upsert(node('od-1', 'on-demand', 1), true);
    cluster.pods.upsert(aPod('placeholder', { owner: 'none', node: 'od-1' }), true);
    script.evidence = { kind: 'none' };
    await look();
    expect(asked).toEqual([]);
    expect(proofs.splice(0)).toEqual(['want on-demand for web-uid']);
    script.evidence = { kind: 'waiting', sinceMs: 0 };
    await look(1_000);
    expect(proofs.splice(0)).toEqual(['want on-demand for web-uid']);
    script.evidence = { kind: 'running', node: 'od-1', requests: { pods: 1 } };
    await look(1_000);
    expect(asked).toHaveLength(1);
    expect(proofs.splice(0)).toEqual(['keep on-demand for web-uid']);
    cluster.pods.remove(`shop/${asked[0]}`);
    cluster.pods.upsert(aPod('e', { mark: { token: 'e', type: 'on-demand', rank: 0 } }), false);
    await look(1_000);
    expect(proofs.splice(0)).toEqual(['keep on-demand for web-uid']);
    cluster.pods.remove('shop/e');
    cluster.pods.upsert(aPod('e', { node: 'od-1', mark: { token: 'e', type: 'on-demand', rank: 0 } }), false);
    await look(1_000);
    expect(proofs).toEqual([]);
  });
});

describe('one look after another at a workload with two pods too many on spot', () => {
  it('moves two pods, one after another, and then leaves it alone', async () => {
    const { look, replace, asked, ended, relisted, events } = stage();
    await look();
    await look();
    expect(asked).toHaveLength(1);
    expect(relisted).toHaveLength(1);
    replace(asked[0]!, 'e', 'on-demand');
    await look(5_000);
    expect(ended).toEqual(['spot on-demand succeeded']);
    await look(5_000);
    expect(asked).toHaveLength(2);
    replace(asked[1]!, 'f', 'on-demand');
    for (let turn = 0; turn < 10; turn++) await look(5_000);
    expect(asked).toHaveLength(2);
    expect(ended).toHaveLength(2);
    expect(events.map(({ reason }) => reason)).toEqual(['Moved', 'Moved']);
  });

  it('waits for the time of the move while nothing comes, and longer after each failure', async () => {
    const { look, replace, asked, ended } = stage();
    expect(await look()).toBe(600_000);
    replace(asked[0]!, 'e', 'spot');
    await look(5_000);
    expect(ended).toEqual(['spot on-demand failed']);
    await look(1_999 - 1_000);
    expect(asked).toHaveLength(1);
    await look(5_000);
    expect(asked).toHaveLength(2);
  });

  it('decides again after the LIST, and holds when that says otherwise', async () => {
    const { look, script, replace, asked } = stage();
    script.onRelist = () => {
      replace('a', 'e', 'on-demand');
      replace('b', 'f', 'on-demand');
    };
    await look();
    expect(asked).toEqual([]);
  });

  it('does not come back soon for a move that is none after the LIST', async () => {
    const { look, script, relisted } = stage();
    const paused = { 'spotalis.io/spot-percentage': '50', 'spotalis.io/paused': 'true' };
    script.onRelist = () => {
      script.policy = readPolicy({ workload: paused, namespace: {}, defaults: {} });
    };
    expect(await look()).toBeUndefined();
    expect(relisted).toHaveLength(1);
  });

  it('goes by the policy that holds after the LIST', async () => {
    const { look, script, asked } = stage();
    const paused = { 'spotalis.io/spot-percentage': '50', 'spotalis.io/paused': 'true' };
    script.onRelist = () => {
      script.policy = readPolicy({ workload: paused, namespace: {}, defaults: {} });
    };
    await look();
    expect(asked).toEqual([]);
  });

  it.each<{
    where: string;
    isBypass: boolean;
    change?: Partial<RebalanceSettings>;
    workload?: Readonly<Record<string, string>>;
  }>([
    { where: 'where admission steers', isBypass: true },
    { where: 'of a workload without a policy', isBypass: false, workload: {} },
    { where: 'in read-only mode', isBypass: false, change: { readOnly: true } },
  ])(
    'takes replacements that were not steered for a bypass: $where, $isBypass',
    async ({ isBypass, change, workload: annotations }) => {
      const { cluster, look, begin, bypass, replace, script } = stage(change);
      const workload = cluster.deployments.get('shop/web')!;
      if (annotations) script.policy = readPolicy({ workload: annotations, namespace: {}, defaults: {} });
      for (const name of ['a', 'b', 'c']) {
        const present = cluster.podsOf(workload).map(({ metadata }) => metadata.uid);
        begin({ ...aMove, workloadUid: 'web-uid', pod: name, present });
        replace(name, `${name}2`, 'on-demand', false);
        const unsteered = aPod(`${name}2`, { node: 'od-1' });
        cluster.pods.upsert(unsteered, false);
        await look();
      }
      expect(bypass.state !== undefined).toBe(isBypass);
    },
  );

  it('leaves a workload alone that changed while it was looked at', async () => {
    const { look, script, cluster, asked } = stage();
    script.onRelist = () => cluster.deployments.upsert(aDeployment({ replicas: 4, labels: {} }), false);
    expect(await look()).toBe(500);
    expect(asked).toEqual([]);
  });

  it('writes nothing without the lease', async () => {
    const { look, script, asked, register } = stage();
    script.mayWrite = false;
    await look();
    expect(asked).toEqual([]);
    expect(register.count).toBe(0);
  });

  it.each<[Outcome['kind'], Outcome, number]>([
    ['blocked', { kind: 'blocked', message: 'no' }, 10_000],
    ['conflict', { kind: 'conflict', message: 'no' }, 1_000],
    ['forbidden', { kind: 'forbidden', message: 'no' }, 5_000],
    ['unread', { kind: 'unread', error: new Error('503') }, 5_000],
    ['stale', { kind: 'stale' }, 500],
  ])('that is %s has spent no budget, and is asked again later', async (_kind, outcome, againInMs) => {
    const { look, script, asked, register } = stage();
    script.outcome = outcome;
    const inMs = await look();
    expect(inMs).toBeLessThanOrEqual(againInMs);
    expect(register.view(60, 1_000_000)).toMatchObject({ underWay: new Map(), begun: [] });
    if (outcome.kind !== 'stale') {
      await look(againInMs - 1);
      expect(asked).toHaveLength(1);
    }
    script.outcome = { kind: 'evicted' };
    await look(againInMs);
    expect(asked).toHaveLength(2);
    expect(register.count).toBe(1);
  });

  it('counts a move whose answer was lost until the pod shows that it stays', async () => {
    const { look, script, asked, ended, register } = stage();
    script.outcome = { kind: 'error', error: new Error('reset'), retryable: true };
    expect(await look()).toBeLessThanOrEqual(15_000);
    await look(14_000);
    expect({ asked: asked.length, inFlight: register.count }).toEqual({ asked: 1, inFlight: 1 });
    script.outcome = { kind: 'evicted' };
    await look(1_000);
    expect(ended).toEqual(['spot on-demand lost']);
    expect(asked).toHaveLength(2);
  });

  it('takes a pod that is gone already as moved', async () => {
    const { look, script, register, events } = stage();
    script.outcome = { kind: 'gone' };
    await look();
    expect(register.count).toBe(1);
    expect(events).toEqual([]);
  });

  it('evicts nothing in read-only mode, without the webhook, or with the budget spent', async () => {
    const readOnly = stage({ readOnly: true });
    await readOnly.look();
    const away = stage();
    away.script.serving = false;
    await away.look();
    const spent = stage();
    spent.register.succeed([], spent.clock.nowMs - 2_000);
    const inMs = await spent.look();
    expect([readOnly.asked, away.asked, spent.asked]).toEqual([[], [], []]);
    expect(inMs).toBeLessThanOrEqual(58_000);
    await spent.look(58_000);
    expect(spent.asked).toHaveLength(1);
  });

  it('says at once what the API server refused, and goes on saying so until it is asked again', async () => {
    const { look, script, shown } = stage();
    script.outcome = { kind: 'forbidden', message: 'pods are not to be evicted' };
    await look();
    const text = 'Held because the API server refused the last eviction: pods are not to be evicted';
    expect(shown()).toMatchObject({ verdict: 'wait', reason: 'EvictionForbidden', text });
    await look(4_999);
    expect(shown()).toMatchObject({ verdict: 'wait', reason: 'EvictionForbidden', text });
  });

  it('says of a move that it waits for the replacements of others to be seen', async () => {
    const { look, bypass, begin, asked, shown } = stage();
    bypass.arrived(false, 1_000_000);
    bypass.arrived(false, 1_000_000);
    begin({ ...aMove, workloadUid: 'other-uid', pod: 'x', present: [] });
    expect(await look()).toBe(500);
    expect(shown()).toMatchObject({
      reason: 'ReplacementsUnseen',
      text: 'Held until the replacement of 1 move is seen to come through the webhook.',
    });
    expect(asked).toEqual([]);
  });

  it('says which budget a move waits for, and is woken when another one ends', async () => {
    const { look, executor, register, woken, asked, shown } = stage({
      maxInFlight: { cluster: 1, namespace: 1, node: 1, workload: 1 },
    });
    register.succeed([{ workloadUid: 'x', namespace: 'other', nodes: [], untilMs: 9e12 }], 0);
    await look();
    expect(shown()).toMatchObject({
      verdict: 'wait',
      reason: 'BudgetSpent',
      text: 'Held because 1 moves are in flight in this cluster and the limit is 1.',
    });
    executor.follow('x');
    expect(woken).toEqual([`distribution/${subject}`]);
    await look();
    expect(asked).toHaveLength(1);
  });

  it('stops when three replacements in a row have passed the webhook by', async () => {
    const { look, bypass, asked } = stage();
    for (let index = 0; index < 3; index++) bypass.arrived(false, 1_000_000);
    await look();
    await look(599_999);
    expect(asked).toEqual([]);
    await look(1);
    expect(asked).toHaveLength(1);
    expect(bypass.state?.lastTrialAtMs).toBe(1_600_000);
  });

  it('corrects the type of a pod whose node is of the other one before anything is moved', async () => {
    const { look, cluster, wrote, asked } = stage();
    const wrong = { token: 'a', type: 'on-demand', rank: 0 };
    cluster.pods.upsert(aPod('a', { node: 'spot-1', ready: true, mark: wrong }), false);
    await look();
    expect(wrote).toEqual(['correct a spot']);
    // The stores do not show it yet, so that it is decided as if nobody had written it.
    await look(1_000);
    expect(wrote).toEqual(['correct a spot', 'correct a spot']);
    expect(asked).toEqual([]);
    cluster.pods.upsert(aPod('a', { node: 'spot-1', ready: true, mark: { ...wrong, type: 'spot' } }), false);
    await look(1_000);
    expect(wrote.at(-1)).toBe('nothing');
    expect(asked).toHaveLength(1);
  });

  it('lists ever more seldom what no LIST makes agree, and moves at once when it does agree', async () => {
    const { look, script, relisted, asked } = stage();
    script.counts = { spot: 3, onDemand: 0 };
    const waits: (number | undefined)[] = [];
    for (let turn = 0; turn < 8; turn++) waits.push(await look(waits.at(-1)));
    expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000]);
    expect(relisted).toHaveLength(8);
    expect(await look(1_000)).toBe(599_000);
    expect(relisted).toHaveLength(8);
    expect(asked).toEqual([]);
    script.counts = null;
    await look(1_000);
    expect(asked).toHaveLength(1);
    expect(relisted).toHaveLength(9);
  });

  it('waits longer each time with a correction that was refused, says so once, and moves nothing meanwhile', async () => {
    const { look, cluster, refusedAnnotations, clock, wrote, asked, events } = stage();
    const wrong = { token: 'a', type: 'on-demand', rank: 0 };
    cluster.pods.upsert(aPod('a', { node: 'spot-1', ready: true, mark: wrong }), false);
    const message = 'admission webhook "policy" denied the request';
    const looks: (number | undefined)[] = [];
    for (const afterMs of [0, 5_000, 10_000]) {
      await look(afterMs);
      refusedAnnotations.refused('web-uid', { pod: 'a', message }, clock.nowMs);
      looks.push(await look());
    }
    expect(looks).toEqual([5_000, 10_000, 20_000]);
    expect(wrote).toEqual(Array.from({ length: 3 }, () => ['correct a spot', 'nothing']).flat());
    expect(events).toMatchObject([
      {
        reason: 'MoveBlocked',
        note: 'AnnotationRefused: Pod a cannot be annotated with its capacity type and deletion cost: admission webhook "policy" denied the request',
      },
    ]);
    await look(20_000);
    expect(wrote.at(-1)).toBe('correct a spot');
    expect(asked).toEqual([]);
  });

  it('has nothing more written on the pods of a workload that is not ours any more', () => {
    const { rebalancer, wrote } = stage();
    rebalancer.forget(subject, 'web-uid', false);
    expect(wrote).toEqual(['nothing']);
  });

  it('looks again soon when the LIST shows that something else is to be done first', async () => {
    const { look, cluster, script, asked } = stage();
    script.onRelist = () => {
      const wrong = { token: 'a', type: 'on-demand', rank: 0 };
      cluster.pods.upsert(aPod('a', { node: 'spot-1', ready: true, mark: wrong }), false);
    };
    expect(await look()).toBe(500);
    expect(asked).toEqual([]);
  });

  it('goes on counting a move of a workload that is gone until it is told so', async () => {
    const { look, cluster, rebalancer, register, ended } = stage();
    await look();
    expect(register.count).toBe(1);
    cluster.deployments.remove('shop/web');
    rebalancer.forget(subject, 'web-uid', true);
    expect(register.count).toBe(0);
    expect(ended).toEqual(['spot on-demand superseded']);
  });

  it('says how many of the pods that waited in vain were removed', () => {
    const { cluster, rebalancer } = stage();
    const workload = cluster.deployments.get('shop/web')!;
    const trace: RebalanceTrace = {
      verdict: { kind: 'bridge', next: null, remove: [] },
      reason: 'StuckRemoved',
      facts: { removed: 9, waiting: 9 },
      standing: null,
      drought: 'open',
      waiting: {},
    };
    const reading = { workload } as Reading;
    const removed = { kind: 'removed', count: 7, deferral: null } as const;
    expect(rebalancer.settled(reading, decisionOf(trace, workload, 0), removed)).toMatchObject({
      decision: { trace: { facts: { removed: 7, waiting: 9 } }, effects: [], intents: [] },
      againInMs: 500,
    });
  });
});
