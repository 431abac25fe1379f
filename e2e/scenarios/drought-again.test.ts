import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { decidedOften, eventsOn, verdictOn } from '../testbed/moves.ts';
import { openTestbed, quickTakeover, type Testbed } from '../testbed/testbed.ts';
import { splitOf, typeOf, type Workload } from '../workloads/workload.ts';
import { spotalis } from './kubectl.ts';

/** Short, so that a drought lasts seconds. Nothing but an admission or a node with room shows capacity. */
const configuration = {
  controller: { leaderElection: quickTakeover },
  fallback: { after: '5s', backoff: { initial: '3s', max: '10s' }, probe: 'none' },
  rebalance: {
    cooldown: '100ms',
    minPodAge: '1s',
    maxMovesPerMinute: 1_000,
    maxInFlight: { namespace: 50, node: 50, cluster: 100 },
  },
};

const poolLabel = 'example.com/pool';
const spotNodes = Array.from({ length: 6 }, (_, index) => `spot-${index + 1}`);

/** Pods of the workload go to the nodes of a pool and nowhere else. */
const inPool = (name: string, pool: string) => ({
  template: {
    metadata: { labels: { app: name } },
    spec: {
      terminationGracePeriodSeconds: 0,
      nodeSelector: { [poolLabel]: pool },
      containers: [
        {
          name: 'app',
          image: 'registry.k8s.io/pause:3.10',
          resources: { requests: { cpu: '1m', memory: '1Mi' } },
        },
      ],
    },
  },
});

describe('spot pods that wait', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({
      patient: true,
      configuration,
      nodeLabels: (type) => ({ [poolLabel]: type === 'spot' ? 'a' : 'b' }),
    });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  const explained = async (namespace: string): Promise<string> =>
    (await spotalis(testbed, 'explain', 'deployment/web', '-n', namespace)).stdout;

  it('for a pool that has on-demand nodes only get substitutes, although other pools have spot nodes', async () => {
    const namespace = 'pool-b';
    const policy = { spotPercentage: 70, minOnDemand: 2 };
    const spec = inPool('web', 'b');
    const workload = await testbed.declare({ name: 'web', namespace, replicas: 10, policy, spec });
    expect(splitOf(await workload.ready(10, 60_000))).toEqual({ spot: 0, onDemand: 10, unsteered: 0 });
    expect(testbed.evictions(namespace)).toBe(7);
    const [started] = await eventsOn(testbed, workload, 'FallbackStarted');
    expect(started?.note).toMatch(/^No spot capacity: 7 pods wait for it/);
    expect(await explained(namespace)).toContain('No spot capacity since');
  }, 120_000);

  it('for nodes that nobody has ever seen are reported, by an Event and in words', async () => {
    const namespace = 'pool-c';
    const policy = { spotPercentage: 100, minOnDemand: 0 };
    const spec = inPool('web', 'c');
    const workload = await testbed.declare({ name: 'web', namespace, replicas: 2, policy, spec });
    await verdictOn(testbed, workload, 'PodsUnscheduled');
    await waitFor(
      'the Event',
      async () => (await eventsOn(testbed, workload, 'PodsUnscheduled')).length === 1,
    );
    const [told] = await eventsOn(testbed, workload, 'PodsUnscheduled');
    expect(told?.note).toContain('2 pods that no known node could take');
    expect((await explained(namespace)).replace(/\s+/g, ' ')).toContain(
      '2 pods that no known node could take, of either type and even empty (check requests, nodeSelector',
    );
    expect(testbed.evictions(namespace)).toBe(0);
  }, 180_000);

  const key = 'example.com/closed';
  const close = () =>
    Promise.all(spotNodes.map((node) => testbed.cluster.taint(node, { key, effect: 'NoSchedule' })));
  const reopen = () => Promise.all(spotNodes.map((node) => testbed.cluster.untaint(node, key)));

  const breakerOf = async (workload: Workload) => {
    const { workloadUid } = await workload.revision();
    const { state, memo = '{}' } = await testbed.ledger.breaker(workloadUid);
    const { proven = false } = JSON.parse(memo) as { readonly proven?: boolean };
    return { state, proven };
  };

  it('in a second drought are not taken for capacity because the first one ended', async () => {
    const namespace = 'again';
    const policy = { spotPercentage: 50, minOnDemand: 1 };
    const workload = await testbed.declare({ name: 'web', namespace, replicas: 4, policy });
    await workload.ready(4);
    const isBreaker = (state: string) =>
      waitFor(`the breaker to be ${state}`, async () => (await breakerOf(workload)).state === state, {
        timeoutMs: 60_000,
        intervalMs: 100,
      });
    const onSpot = async (replicas: number) =>
      (await workload.ready(replicas, 60_000)).filter((pod) => typeOf(pod) === 'spot').length;

    await close();
    await workload.scale(8);
    expect(await onSpot(8)).toBe(2);
    await reopen();
    await waitFor('the return', async () => (await onSpot(8)) === 4, { timeoutMs: 60_000 });
    await isBreaker('closed');
    expect(await eventsOn(testbed, workload, 'FallbackEnded')).toHaveLength(1);

    await close();
    await workload.scale(12);
    expect(await onSpot(12)).toBe(4);
    await isBreaker('half-open');
    await decidedOften(testbed, workload, 'NoCapacity', 5);
    expect(await breakerOf(workload)).toEqual({ state: 'half-open', proven: false });
    // Now nothing is lacking, and there is still no capacity.
    await workload.scale(8);
    await decidedOften(testbed, workload, 'Balanced', 5);
    expect(await breakerOf(workload)).toEqual({ state: 'half-open', proven: false });
    await reopen();
    await isBreaker('closed');
  }, 240_000);
});
