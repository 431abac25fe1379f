/** @needs redis control-plane karpenter */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  findKarpenter,
  installationNamespace,
  type Karpenter,
  startKarpenter,
  waitFor,
} from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import { PodHistory } from '../workloads/history.ts';
import { droughtOf, eventsOn, verdictOn } from '../testbed/moves.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { splitOf, type Workload } from '../workloads/workload.ts';
import { Floors } from './floors.ts';

const program = await findKarpenter((line) => process.stdout.write(`${line}\n`));
if ('missing' in program)
  process.stdout.write(`scenarios with an autoscaler are left out: ${program.missing}\n`);
const describeOrSkip = 'missing' in program ? describe.skip : describe;

const spotPercentage = (percentage: number) => ({
  metadata: { annotations: { [policyKeys.spotPercentage]: String(percentage) } },
});

/** More than half of a node that the autoscaler makes: each pod needs one of its own. */
const template = {
  metadata: { labels: { app: 'web' } },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      { name: 'app', image: 'registry.k8s.io/pause:3.10', resources: { requests: { cpu: '500m' } } },
    ],
  },
};

describeOrSkip('with a real autoscaler and no spot node', () => {
  let testbed: Testbed;
  let floors: Floors;
  let karpenter: Karpenter;
  let web: Workload;

  beforeAll(async () => {
    if ('missing' in program) throw new Error(program.missing);
    testbed = await openTestbed({
      spotNodes: 0,
      onDemandNodes: 3,
      // It waits for ever for machines behind nodes that are said to be of its pools.
      nodeLabels: () => ({ 'karpenter.sh/nodepool': null }),
      controllers: 1,
      webhooks: 1,
      configuration: {
        controller: { leaderElection: { namespace: installationNamespace }, resyncPeriod: '5s' },
        rebalance: { cooldown: '1s', minPodAge: '1s', maxMovesPerMinute: 1_000 },
        fallback: { after: '5s', placeholderTimeout: '8s', backoff: { initial: '3s', max: '6s' } },
      },
    });
    floors = await Floors.follow(testbed.cluster);
    karpenter = await startKarpenter(testbed.cluster, program);
    web = await testbed.declare({
      name: 'web',
      namespace: 'scaled',
      replicas: 4,
      policy: { spotPercentage: 0, minOnDemand: 1 },
      spec: { selector: { matchLabels: { app: 'web' } }, template },
    });
    await web.ready(4);
  }, 150_000);

  afterAll(async () => {
    await testbed?.close();
  });

  const placeholders = async (): Promise<number> =>
    (await testbed.cluster.api.list('Pod', { namespace: installationNamespace })).length;

  it('each move goes through a placeholder, a node made for it, an eviction and a replacement there', async () => {
    expect(await karpenter.nodes()).toEqual([]);
    await web.patch(spotPercentage(50));
    await waitFor('two pods on spot', async () => splitOf(await web.ready(4)).spot === 2, {
      timeoutMs: 60_000,
      intervalMs: 300,
    });
    const made = new Set((await karpenter.nodes()).map(({ metadata }) => metadata.name));
    const homes = (await web.pods()).map(({ spec }) => spec.nodeName ?? '');
    expect(new Set(homes.filter((name) => made.has(name))).size).toBe(2);
    expect(testbed.evictions()).toBe(2);
    await waitFor('no placeholder', async () => (await placeholders()) === 0, { timeoutMs: 30_000 });
  }, 150_000);

  it('evicts nobody while there is no more spot capacity, and takes its placeholder back', async () => {
    await karpenter.exhaustSpot();
    await web.patch(spotPercentage(75));
    await waitFor('a placeholder', async () => (await placeholders()) === 1, { timeoutMs: 60_000 });
    await verdictOn(testbed, web, 'NoCapacity');
    await waitFor('it to be given up', async () => (await placeholders()) === 0, { timeoutMs: 60_000 });
    expect(testbed.evictions()).toBe(2);
  }, 150_000);

  it('a drought is bridged, probed by placeholders only, and undone by one move for each substitute', async () => {
    const ours = () => testbed.writes('scaled').filter(({ what }) => what === 'create pods/eviction').length;
    const before = ours();
    // The autoscaler evicts by itself what is on nodes that it takes away.
    await karpenter.withdrawSpot();
    await waitFor('four substitutes', async () => splitOf(await web.ready(4)).onDemand === 4, {
      timeoutMs: 60_000,
      intervalMs: 200,
    });
    const bridged = ours() - before;
    expect(bridged).toBeGreaterThan(0);
    expect(await eventsOn(testbed, web, 'FallbackStarted')).toHaveLength(1);
    await waitFor('a placeholder', async () => (await placeholders()) === 1, { timeoutMs: 30_000 });
    await waitFor('it to be given up', async () => (await placeholders()) === 0, { timeoutMs: 30_000 });
    expect(ours() - before).toBe(bridged);
    expect(await karpenter.nodes()).toEqual([]);

    const history = await PodHistory.follow(testbed.cluster, 'scaled');
    await karpenter.returnSpot();
    await waitFor('three pods on spot', async () => splitOf(await web.ready(4)).spot === 3, {
      timeoutMs: 90_000,
      intervalMs: 200,
    });
    await waitFor('the end', async () => (await eventsOn(testbed, web, 'FallbackEnded')).length === 1);
    await history.stop();
    expect(ours() - before).toBe(bridged + 3);
    const spots = history.states.map(({ spot }) => spot);
    expect(spots.toSorted((a, b) => a - b)).toEqual(spots);
    const tried = droughtOf(testbed, web).filter(({ reason }) => reason === 'ReturnTried');
    expect(new Set(tried.map(({ by }) => by))).toEqual(new Set(['placeholder']));
  }, 180_000);

  it('every workload keeps its floor at each eviction', async () => {
    expect(await floors.breaches()).toEqual([]);
  });
});
