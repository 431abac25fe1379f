import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HOLD_ANNOTATION, type KubeObject, waitFor } from '@spotalis/cluster';
import { enabledLabel, policyKeys } from '@spotalis/core';
import { PodHistory } from '../workloads/history.ts';
import { verdictOn } from '../testbed/moves.ts';
import { Floors } from './floors.ts';
import {
  annotate,
  expectWrites,
  eachOfTenOnce,
  heldBecause,
  rebalance,
  type Scenario,
  settled,
  spotPercentage,
  ten,
  watched,
} from '../testbed/repair.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { isReady, manifest, type Pod, splitOf, typeOf, type Workload } from '../workloads/workload.ts';

const capacityLabel = 'karpenter.sh/capacity-type';
const unlimited = { spotPercentage: 0, minOnDemand: 0 };
const uidsOf = (pods: readonly Pod[]): readonly (string | undefined)[] =>
  pods.map(({ metadata }) => metadata?.uid);
const namesOf = (pods: readonly Pod[]): readonly string[] =>
  pods.map(({ metadata }) => metadata?.name ?? '').toSorted();

const ninetyPercent = (namespace: string, unhealthyPodEvictionPolicy: string) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace },
  spec: { minAvailable: '90%', unhealthyPodEvictionPolicy, selector: { matchLabels: { app: 'web' } } },
});

/** Volumes for the claims of a StatefulSet, since nobody provisions any here. */
const volumesFor = (namespace: string, count: number): readonly KubeObject[] =>
  Array.from({ length: count }, (_, ordinal) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `${namespace}-${ordinal}` },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: '',
      claimRef: { namespace, name: `data-web-${ordinal}` },
      hostPath: { path: '/var/empty' },
    },
  }));

const volumeClaimTemplates = [
  {
    metadata: { name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: '',
      resources: { requests: { storage: '1Gi' } },
    },
  },
];

interface StatefulSet extends KubeObject {
  readonly spec: { readonly template: object };
}

const scenarios: readonly Scenario[] = [
  {
    name: 'a PodDisruptionBudget in percent lets unhealthy pods go when it says so, and no other ones',
    namespace: 'unhealthy',
    evictions: 2,
    patches: eachOfTenOnce,
    play: (testbed, namespace) =>
      watched(testbed, ten(namespace, 0, { policy: unlimited }), 0, async (workload) => {
        await testbed.cluster.api.apply(ninetyPercent(namespace, 'IfHealthyBudget'));
        const [first, second] = await workload.pods();
        const sick = [first?.metadata, second?.metadata];
        for (const pod of sick) {
          await testbed.cluster.holdPods({ namespace, fieldSelector: `metadata.name=${pod?.name}` }, 'ready');
        }
        await waitFor('eight to be Ready', async () => (await workload.pods()).filter(isReady).length === 8);
        await workload.patch(spotPercentage(20));
        await heldBecause(testbed, workload, 'PdbBlocks');
        expect(testbed.evictions(namespace)).toBe(0);
        await testbed.cluster.api.apply(ninetyPercent(namespace, 'AlwaysAllow'));
        await settled(workload, { spot: 2, onDemand: 8 });
        const left = uidsOf(await workload.pods());
        for (const pod of sick) expect(left).not.toContain(pod?.uid);
      }),
  },
  {
    name: 'a rollout that is stuck is left alone, and what is amiss after its rollback is repaired',
    namespace: 'stuck',
    evictions: 1,
    patches: eachOfTenOnce,
    play: (testbed, namespace) =>
      watched(testbed, ten(namespace, 60), 1, async (workload) => {
        const podAnnotations = { [HOLD_ANNOTATION]: 'ready' };
        await testbed.cluster.api.apply(manifest(ten(namespace, 60, { version: '2', podAnnotations })));
        await workload.patch(spotPercentage(80));
        await verdictOn(testbed, workload, 'RolloutInProgress');
        expect(testbed.evictions(namespace)).toBe(0);
        const policy = { spotPercentage: 80, minOnDemand: 1 };
        await testbed.cluster.api.apply(manifest(ten(namespace, 80, { policy })));
        await settled(workload, { spot: 8, onDemand: 2 });
      }),
  },
  {
    name: 'a rollout makes up for a drift without an eviction',
    namespace: 'rolled',
    evictions: 0,
    patches: 0,
    play: (testbed, namespace) =>
      watched(testbed, ten(namespace, 60), 1, async (workload) => {
        await workload.patch({ ...spotPercentage(80), spec: { paused: true } });
        await verdictOn(testbed, workload, 'RolloutPaused');
        const policy = { spotPercentage: 80, minOnDemand: 1 };
        await testbed.cluster.api.apply(
          manifest(ten(namespace, 80, { policy, version: '2', spec: { paused: true } })),
        );
        await workload.patch({ spec: { paused: false } });
        await settled(workload, { spot: 8, onDemand: 2 });
        await verdictOn(testbed, workload, 'Balanced');
      }),
  },
  {
    name: 'an autoscaler that goes from 4 to 40 to 4 costs nothing',
    namespace: 'scaled',
    evictions: 0,
    patches: 0,
    play: (testbed, namespace) =>
      watched(
        testbed,
        ten(namespace, 0, { replicas: 4, policy: { spotPercentage: 70, minOnDemand: 2 } }),
        2,
        async (workload) => {
          for (const replicas of [40, 4]) {
            await workload.scale(replicas);
            const { spot, onDemand } = workload.exactly(replicas);
            await settled(workload, { spot, onDemand });
            await verdictOn(testbed, workload, 'Balanced');
          }
          expect(testbed.writes(namespace)).toEqual([]);
        },
      ),
  },
  {
    name: 'a Pending pod of the other type does not hold up the repair',
    namespace: 'pending',
    evictions: 2,
    patches: eachOfTenOnce,
    play: async (testbed, namespace) => {
      const podAnnotations = { [HOLD_ANNOTATION]: 'start' };
      const workload = await testbed.declare(ten(namespace, 60, { podAnnotations }));
      const stuck = await waitFor('a pod on spot among ten', async () => {
        const pods = await workload.pods();
        return pods.length === 10 ? pods.find((pod) => typeOf(pod) === 'spot')?.metadata?.name : undefined;
      });
      const others = { namespace, fieldSelector: `metadata.name!=${stuck},status.phase=Pending` };
      const nineReady = async (): Promise<boolean> => {
        await testbed.cluster.releasePods(others);
        return (await workload.pods()).filter(isReady).length === 9;
      };
      await waitFor('nine to be Ready', nineReady);
      await workload.patch(spotPercentage(80));
      await waitFor(
        'eight on spot, one of them Pending',
        async () => (await nineReady()) && (await workload.split()).spot === 8,
        { timeoutMs: 90_000, intervalMs: 200 },
      );
      const pending = (await workload.pods()).filter((pod) => !isReady(pod));
      expect(namesOf(pending)).toEqual([stuck]);
    },
  },
  {
    name: 'a label that is taken from the namespace midway ends all moving',
    namespace: 'forsaken',
    evictions: 1,
    patches: 0,
    play: async (testbed, namespace) => {
      const workload = await testbed.declare(ten(namespace, 0, { policy: unlimited }));
      await workload.ready(10);
      await workload.patch(annotate({ [policyKeys.paused]: 'true', [policyKeys.spotPercentage]: '100' }));
      await verdictOn(testbed, workload, 'Paused');
      await workload.patch(annotate({ [policyKeys.paused]: 'false' }));
      await waitFor('an eviction', () => testbed.evictions(namespace) > 0, {
        timeoutMs: 60_000,
        intervalMs: 20,
      });
      await testbed.cluster.api.patch('Namespace', namespace, {
        metadata: { labels: { [enabledLabel]: null } },
      });
      await workload.ready(10);
    },
  },
  ...(['OrderedReady', 'Parallel'] as const).map(
    (podManagementPolicy): Scenario => ({
      name: `a StatefulSet managed ${podManagementPolicy} keeps names, volumes and template from 3 to 7 to 2 pods`,
      namespace: `volumes-${podManagementPolicy.toLowerCase()}`,
      evictions: 4,
      patches: 0,
      play: async (testbed, namespace) => {
        const { api } = testbed.cluster;
        const spec = { podManagementPolicy, volumeClaimTemplates };
        await api.apply(volumesFor(namespace, 7));
        const workload = await testbed.declare(
          ten(namespace, 0, { kind: 'StatefulSet', replicas: 3, policy: unlimited, spec }),
        );
        await workload.ready(3);
        await workload.scale(7);
        const before = namesOf(await workload.ready(7));
        const path = workload.path;
        const { template } = (await api.get<StatefulSet>('StatefulSet', path)).spec;
        const claims = async () => uidsOf(await api.list<Pod>('PersistentVolumeClaim', { namespace }));
        const claimed = await claims();
        await workload.patch(spotPercentage(50));
        await settled(workload, { spot: 4, onDemand: 3 });
        expect(namesOf(await workload.pods())).toEqual(before);
        await workload.scale(2);
        await settled(workload, { spot: 1, onDemand: 1 });
        await verdictOn(testbed, workload, 'Balanced');
        expect(namesOf(await workload.pods())).toEqual(['web-0', 'web-1']);
        expect(await claims()).toEqual(claimed);
        expect((await api.get<StatefulSet>('StatefulSet', path)).spec.template).toEqual(template);
      },
    }),
  ),
  ...(['OrderedReady', 'Parallel'] as const).map(
    (podManagementPolicy): Scenario => ({
      name: `a StatefulSet managed ${podManagementPolicy} keeps a new floor also when it is scaled down to it`,
      namespace: `ordinals-${podManagementPolicy.toLowerCase()}`,
      // The count is right at once: web-0 goes to on-demand for the floor, web-1 to spot in its place.
      evictions: 2,
      patches: 0,
      play: async (testbed, namespace) => {
        const policy = { spotPercentage: 50, minOnDemand: 0 };
        const spec = { podManagementPolicy };
        const workload = await testbed.declare(
          ten(namespace, 50, { kind: 'StatefulSet', replicas: 4, policy, spec }),
        );
        await settled(workload, { spot: 2, onDemand: 2 });
        await workload.patch(annotate({ [policyKeys.minOnDemand]: '1' }));
        await waitFor('two moves', () => testbed.evictions(namespace) === 2, { timeoutMs: 90_000 });
        await settled(workload, { spot: 2, onDemand: 2 });
        await verdictOn(testbed, workload, 'Balanced');
        await workload.scale(1);
        await settled(workload, { spot: 0, onDemand: 1 });
        await verdictOn(testbed, workload, 'Balanced');
      },
    }),
  ),
];

describe('repairs, of workloads side by side', () => {
  let testbed: Testbed;
  let floors: Floors;
  const played = new Map<string, Promise<void>>();

  beforeAll(async () => {
    testbed = await openTestbed({ patient: true, configuration: { rebalance } });
    floors = await Floors.follow(testbed.cluster);
    for (const scenario of scenarios) {
      const promise = scenario.play(testbed, scenario.namespace);
      promise.catch(() => undefined);
      played.set(scenario.namespace, promise);
    }
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it.each(scenarios)('$name', ({ namespace }) => played.get(namespace), 200_000);

  it('write no more than this, ever', async () => {
    await Promise.allSettled(played.values());
    await expectWrites(testbed, scenarios);
    const kinds = new Set(testbed.writes().map(({ what }) => what));
    expect([...kinds].toSorted()).toEqual(['create pods/eviction', 'patch pods']);
  }, 200_000);

  const podsOn = async (workload: Workload, node: string): Promise<readonly Pod[]> =>
    (await workload.pods()).filter(({ spec }) => spec.nodeName === node);

  /** The node of a type that holds most of its pods. */
  async function fullestNode(workload: Workload, type: string): Promise<string> {
    const counts = new Map<string, number>();
    for (const pod of await workload.pods()) {
      const node = pod.spec.nodeName ?? '';
      if (typeOf(pod) === type) counts.set(node, (counts.get(node) ?? 0) + 1);
    }
    return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? '';
  }

  it('leave pods alone on a node that has lost its label, until it has it again', async () => {
    const namespace = 'unlabelled';
    const workload = await testbed.declare(ten(namespace, 50));
    await workload.ready(10);
    const node = await fullestNode(workload, 'spot');
    const onNode = (await podsOn(workload, node)).filter((pod) => typeOf(pod) === 'spot');
    expect(onNode.length).toBeGreaterThan(0);
    const label = (value: string | null) =>
      testbed.cluster.api.patch('Node', node, { metadata: { labels: { [capacityLabel]: value } } });
    await label(null);
    await workload.patch(spotPercentage(0));
    const free = 5 - onNode.length;
    await waitFor(`${free} moves`, () => testbed.evictions(namespace) === free, { timeoutMs: 60_000 });
    await verdictOn(testbed, workload, 'NoCandidate');
    expect(uidsOf(await workload.ready(10))).toEqual(expect.arrayContaining([...uidsOf(onNode)]));
    await label('spot');
    await settled(workload, { spot: 0, onDemand: 10 });
    expect(testbed.evictions(namespace)).toBe(5);
  }, 150_000);

  it('count pods that a reclaim takes meanwhile as moved, and go on with the rest', async () => {
    const namespace = 'reclaimed';
    const policy = { spotPercentage: 100, minOnDemand: 3 };
    const workload = await testbed.declare(ten(namespace, 0, { replicas: 60, policy }));
    await workload.ready(60);
    const history = await PodHistory.follow(testbed.cluster, namespace);
    await workload.patch(spotPercentage(70));
    await waitFor('an eviction', () => testbed.evictions(namespace) > 0, {
      timeoutMs: 60_000,
      intervalMs: 50,
    });
    const node = await fullestNode(workload, 'spot');
    const lost = await podsOn(workload, node);
    await testbed.cluster.removeNode(node);
    await settled(workload, { spot: 42, onDemand: 18 });
    await verdictOn(testbed, workload, 'Balanced');
    await testbed.cluster.restoreNode(node);
    await history.stop();
    process.stdout.write(`reclaimed ${lost.length} pods; ${testbed.evictions(namespace)} evictions\n`);
    // Fifteen too many on spot; a pod that was about to be evicted may have been on that node.
    expect(testbed.evictions(namespace)).toBeGreaterThanOrEqual(15 - lost.length);
    expect(testbed.evictions(namespace)).toBeLessThanOrEqual(15 - lost.length + 1);
    for (const { onDemand } of history.states) expect(onDemand).toBeGreaterThanOrEqual(3);
    expect(splitOf(await workload.pods()).unsteered).toBe(0);
  }, 150_000);

  it('every workload keeps its floor at each eviction', async () => {
    expect(await floors.breaches()).toEqual([]);
  });
});
