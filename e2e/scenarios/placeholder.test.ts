import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { installationNamespace, type KubeObject, waitFor } from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import { Follower } from '../workloads/follower.ts';
import { PodHistory } from '../workloads/history.ts';
import { decidedOften, droughtOf, eventsOn, killLeader, verdictOn } from '../testbed/moves.ts';
import { openTestbed, quickTakeover, type Testbed } from '../testbed/testbed.ts';
import { isReady, type Pod, splitOf, type Workload } from '../workloads/workload.ts';
import { Floors } from './floors.ts';

const MOST = 2;

const spotPercentage = (percentage: number) => ({
  metadata: { annotations: { [policyKeys.spotPercentage]: String(percentage) } },
});

interface Placeholder extends Pod {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
}

const isPlaceholder = ({ metadata }: KubeObject): boolean =>
  metadata?.name?.startsWith('placeholder-') ?? false;

async function placeholders({ cluster }: Testbed): Promise<readonly Placeholder[]> {
  const pods = await cluster.api.list<Placeholder>('Pod', { namespace: installationNamespace });
  return pods.filter(isPlaceholder);
}

/** How many placeholders there were at most from now on, from a watch. */
async function countMost({ cluster }: Testbed) {
  const live = new Set<string>();
  let most = 0;
  const follower = new Follower(cluster);
  await follower.follow(`/api/v1/namespaces/${installationNamespace}/pods`, (changes) => {
    for (const { object, isGone } of changes) {
      if (!isPlaceholder(object)) continue;
      if (isGone) live.delete(object.metadata?.uid ?? '');
      else live.add(object.metadata?.uid ?? '');
    }
    most = Math.max(most, live.size);
  });
  return async () => {
    await follower.stop();
    return most;
  };
}

describe('where no spot node has room', () => {
  let testbed: Testbed;
  let floors: Floors;
  let most: () => Promise<number>;
  let proved: Workload;

  beforeAll(async () => {
    testbed = await openTestbed({
      patient: true,
      // A place that is there is taken by the first pod that comes.
      podsPerNode: 1,
      spotNodes: 2,
      onDemandNodes: 12,
      configuration: {
        controller: {
          resyncPeriod: '5s',
          leaderElection: quickTakeover,
        },
        rebalance: { cooldown: '1s', minPodAge: '1s', maxMovesPerMinute: 1_000 },
        fallback: { maxPlaceholders: MOST, backoff: { initial: '2s', max: '4s' } },
      },
    });
    floors = await Floors.follow(testbed.cluster);
    most = await countMost(testbed);
    await testbed.cluster.withdrawCapacity('spot');
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('a placeholder proves each place before a pod is evicted for it', async () => {
    const policy = { spotPercentage: 0, minOnDemand: 1 };
    const web = await testbed.declare({ name: 'web', namespace: 'proof', replicas: 4, policy });
    proved = web;
    await web.ready(4);
    await web.patch(spotPercentage(50));
    const [waiting] = await waitFor('a placeholder', async () => {
      const there = await placeholders(testbed);
      return there.length > 0 ? there : undefined;
    });
    await verdictOn(testbed, web, 'NoCapacity');
    expect(waiting?.spec.nodeName).toBeUndefined();
    expect(testbed.evictions()).toBe(0);

    for (const [index, node] of ['spot-1', 'spot-2'].entries()) {
      await testbed.cluster.restoreNode(node);
      await waitFor(`${index + 1} pods on spot`, async () => splitOf(await web.ready(4)).spot === index + 1, {
        timeoutMs: 60_000,
        intervalMs: 200,
      });
      const spot = (await web.pods()).filter(({ spec }) => spec.nodeName === node);
      expect(spot.map(isReady)).toEqual([true]);
      expect(testbed.evictions()).toBe(index + 1);
    }
    await verdictOn(testbed, web, 'Balanced');
    await waitFor('no placeholder', async () => (await placeholders(testbed)).length === 0);
  }, 180_000);

  it('the end of a drought is shown by a placeholder, and costs no pod that runs anything', async () => {
    await proved.scale(0);
    await proved.ready(0);
    await testbed.cluster.withdrawCapacity('spot');
    const namespace = 'dry';
    const dry = await testbed.declare({
      name: 'web',
      namespace,
      replicas: 4,
      policy: { spotPercentage: 50, minOnDemand: 1 },
    });
    await dry.patch({ metadata: { annotations: { [policyKeys.spotFallbackAfter]: '3s' } } });
    await dry.ready(4);
    expect(splitOf(await dry.pods())).toEqual({ spot: 0, onDemand: 4, unsteered: 0 });
    expect(testbed.evictions(namespace)).toBe(2);
    const [probe] = await waitFor('a placeholder', async () => {
      const there = await placeholders(testbed);
      return there.length > 0 ? there : undefined;
    });
    expect(probe?.spec.nodeName).toBeUndefined();
    await decidedOften(testbed, dry, 'NoCapacity', 3);
    expect(testbed.evictions(namespace)).toBe(2);

    const history = await PodHistory.follow(testbed.cluster, namespace);
    for (const [index, node] of ['spot-1', 'spot-2'].entries()) {
      await testbed.cluster.restoreNode(node);
      await waitFor(`${index + 1} pods on spot`, async () => splitOf(await dry.ready(4)).spot === index + 1, {
        timeoutMs: 60_000,
        intervalMs: 200,
      });
      expect(testbed.evictions(namespace)).toBe(2 + index + 1);
    }
    await verdictOn(testbed, dry, 'Balanced');
    await history.stop();
    const spots = history.states.map(({ spot }) => spot);
    expect(spots.toSorted((a, b) => a - b)).toEqual(spots);
    const tried = droughtOf(testbed, dry).filter(({ reason }) => reason === 'ReturnTried');
    expect(tried.map(({ by }) => by)).toEqual(['placeholder']);
    await waitFor('the end', async () => (await eventsOn(testbed, dry, 'FallbackEnded')).length === 1);
    await waitFor('no placeholder', async () => (await placeholders(testbed)).length === 0);
  }, 180_000);

  it('a new leader keeps those that are wanted, removes the others, and never makes more than there may be', async () => {
    const policy = { spotPercentage: 0, minOnDemand: 1 };
    const workloads: Workload[] = [];
    for (const name of ['a', 'b', 'c']) {
      workloads.push(await testbed.declare({ name, namespace: 'many', replicas: 2, policy }));
    }
    for (const workload of workloads) await workload.ready(2);
    for (const workload of workloads) await workload.patch(spotPercentage(50));
    const before = await waitFor(`${MOST} placeholders`, async () => {
      const there = await placeholders(testbed);
      return there.length === MOST ? there : undefined;
    });
    const leader = await testbed.installation.leader();
    await killLeader(testbed);
    const holder = await waitFor(
      'another leader',
      async () => {
        const now = await testbed.installation.leader();
        return now === leader ? undefined : now;
      },
      { timeoutMs: 20_000 },
    );
    expect(holder).toBeDefined();
    for (const workload of workloads) await verdictOn(testbed, workload, 'NoCapacity');
    const names = (list: readonly Placeholder[]) => list.map(({ metadata }) => metadata.name).toSorted();
    expect(names(await placeholders(testbed))).toEqual(names(before));

    for (const workload of workloads) await workload.patch(spotPercentage(0));
    await waitFor('no placeholder', async () => (await placeholders(testbed)).length === 0, {
      timeoutMs: 30_000,
    });
    expect(testbed.evictions('many')).toBe(0);
    expect(await most()).toBe(MOST);
  }, 180_000);

  it('every workload keeps its floor at each eviction', async () => {
    expect(await floors.breaches()).toEqual([]);
  });
});
