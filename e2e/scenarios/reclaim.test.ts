import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { type Pod, splitOf, typeOf, type Workload } from '../workloads/workload.ts';

const namesOf = (pods: readonly Pod[]): readonly string[] => pods.map(({ metadata }) => metadata?.name ?? '');

describe('pods that go and are made again (B4)', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({ delayAnswersMs: 200, patient: true });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  /** The split as soon as there are as many again, without those that went. */
  async function refilled(workload: Workload, replicas: number, gone: readonly string[]) {
    const lost = new Set(gone);
    return waitFor(`${gone.length} pods to be replaced`, async () => {
      const pods = await workload.pods();
      return pods.length === replicas && !namesOf(pods).some((name) => lost.has(name))
        ? splitOf(pods)
        : undefined;
    });
  }

  function podsByNode(pods: readonly Pod[], type: string): ReadonlyMap<string, readonly string[]> {
    const byNode = new Map<string, string[]>();
    for (const pod of pods.filter((each) => typeOf(each) === type)) {
      const node = pod.spec.nodeName ?? '';
      byNode.set(node, [...(byNode.get(node) ?? []), pod.metadata?.name ?? '']);
    }
    return byNode;
  }

  /** Observers that lag: nobody tells the ledger what went, while it is asked for what comes instead. */
  async function unseen(act: () => Promise<void>): Promise<void> {
    const { controllers } = testbed.installation;
    for (const { component } of controllers) component.freeze();
    try {
      await act();
    } finally {
      for (const { component } of controllers) component.thaw();
    }
  }

  it.each([
    { namespace: 'spot', when: 'is reclaimed', around: (act: () => Promise<void>) => act() },
    { namespace: 'unseen', when: 'is reclaimed while no controller looks', around: unseen },
  ])(
    'are exact after a spot node with ten pods $when',
    async ({ namespace, around }) => {
      const policy = { spotPercentage: 60, minOnDemand: 2 };
      const workload = await testbed.declare({ name: 'web', namespace, replicas: 100, policy });
      const before = await workload.ready(100);
      const [[node, lost] = ['', []]] = [...podsByNode(before, 'spot')].toSorted(
        ([, a], [, b]) => Math.abs(a.length - 10) - Math.abs(b.length - 10),
      );
      expect(lost.length).toBeGreaterThan(5);
      await around(async () => {
        await testbed.cluster.removeNode(node);
        expect(await refilled(workload, 100, lost)).toEqual(workload.exactly(100));
      });
      await testbed.cluster.restoreNode(node);
      expect(testbed.evictions(namespace)).toBe(0);
    },
    120_000,
  );

  it('are exact after both a spot and an on-demand node are lost', async () => {
    const policy = { spotPercentage: 50, minOnDemand: 3 };
    const workload = await testbed.declare({ name: 'web', namespace: 'both', replicas: 60, policy });
    const before = await workload.ready(60);
    const nodes = ['spot', 'on-demand'].map(
      (type) => [...podsByNode(before, type)][0] ?? (['', []] as const),
    );
    await Promise.all(nodes.map(([node]) => testbed.cluster.removeNode(node)));
    const lost = nodes.flatMap(([, names]) => names);
    expect(await refilled(workload, 60, lost)).toEqual(workload.exactly(60));
    for (const [node] of nodes) await testbed.cluster.restoreNode(node);
    expect(testbed.evictions('both')).toBe(0);
  }, 120_000);

  it('are exact after a user deletes pods of one type', async () => {
    const policy = { spotPercentage: 70, minOnDemand: 1 };
    const workload = await testbed.declare({ name: 'web', namespace: 'deleted', replicas: 30, policy });
    const before = await workload.ready(30);
    for (const type of ['spot', 'on-demand']) {
      const chosen = namesOf((await workload.pods()).filter((pod) => typeOf(pod) === type).slice(0, 5));
      await Promise.all(chosen.map((name) => testbed.cluster.api.delete('Pod', `deleted/${name}`)));
      expect(await refilled(workload, 30, chosen)).toEqual(workload.exactly(30));
    }
    const everyone = namesOf(await workload.ready(30));
    expect(everyone).not.toEqual(namesOf(before));
    await Promise.all(everyone.map((name) => testbed.cluster.api.delete('Pod', `deleted/${name}`)));
    expect(await refilled(workload, 30, everyone)).toEqual(workload.exactly(30));
    expect(testbed.evictions('deleted')).toBe(0);
  }, 120_000);

  it('are exact when a spot node is reclaimed in the middle of a burst', async () => {
    const policy = { spotPercentage: 70, minOnDemand: 5 };
    const replicas = 300;
    const before = await testbed.admissions();
    const workload = await testbed.declare({ name: 'web', namespace: 'burst', replicas, policy });
    await testbed.admitted(before + 100);
    const [node = ''] = await waitFor('a spot node with pods', async () => {
      const nodes = [...podsByNode(await workload.pods(), 'spot').keys()].filter((name) => name !== '');
      return nodes.length > 0 ? nodes : undefined;
    });
    expect(await testbed.admissions()).toBeLessThan(before + replicas);
    await testbed.cluster.removeNode(node);
    expect(splitOf(await workload.ready(replicas))).toEqual(workload.exactly(replicas));
    expect(testbed.creations('burst').count).toBeGreaterThan(replicas);
    expect(testbed.evictions('burst')).toBe(0);
  }, 120_000);

  it('take no eviction and no other write', () => {
    expect(testbed.evictions()).toBe(0);
    expect(testbed.writes()).toEqual([]);
  });
});
