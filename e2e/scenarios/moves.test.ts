/** @needs redis control-plane @also kubernetes-1.30 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HOLD_ANNOTATION, type KubeObject, waitFor } from '@spotalis/cluster';
import { enabledLabel, policyKeys } from '@spotalis/core';
import { eventsOn, verdictOn } from '../testbed/moves.ts';
import { Floors } from './floors.ts';
import {
  annotate,
  expectWrites,
  eachOfTenOnce,
  heldBecause,
  pdb,
  rebalance,
  type Scenario,
  settled,
  spotPercentage,
  ten,
  watched,
} from '../testbed/repair.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import {
  type Declaration,
  isReady,
  manifest,
  optedInNamespace,
  splitOf,
  typeOf,
  Workload,
} from '../workloads/workload.ts';

interface Updated extends KubeObject {
  readonly status: { readonly updatedReplicas?: number; readonly currentReplicas?: number };
}

const scenarios: readonly Scenario[] = [
  {
    name: '60 to 80 % of ten pods are two evictions',
    namespace: 'up',
    evictions: 2,
    patches: 4,
    play: (testbed, namespace) =>
      watched(testbed, ten(namespace, 60), 1, async (workload) => {
        await workload.patch(spotPercentage(80));
        await settled(workload, { spot: 8, onDemand: 2 });
        expect(await eventsOn(testbed, workload, 'Moved')).toHaveLength(2);
      }),
  },
  {
    name: '70 to 80 % of ten pods is one eviction',
    namespace: 'one',
    evictions: 1,
    patches: eachOfTenOnce,
    play: (testbed, namespace) =>
      watched(testbed, ten(namespace, 70), 1, async (workload) => {
        await workload.patch(spotPercentage(80));
        await settled(workload, { spot: 8, onDemand: 2 });
      }),
  },
  {
    name: 'a floor that is raised is reached without an on-demand pod less on the way',
    namespace: 'floor',
    evictions: 3,
    patches: eachOfTenOnce,
    play: (testbed, namespace) =>
      watched(testbed, ten(namespace, 100), 1, async (workload) => {
        await workload.patch(annotate({ [policyKeys.minOnDemand]: '4' }));
        await settled(workload, { spot: 6, onDemand: 4 });
      }),
  },
  {
    name: '0 to 100 to 0 % is each pod twice',
    namespace: 'flip',
    evictions: 6,
    patches: 0,
    play: async (testbed, namespace) => {
      const policy = { spotPercentage: 0, minOnDemand: 0 };
      const workload = await testbed.declare(ten(namespace, 0, { replicas: 3, policy }));
      await settled(workload, { spot: 0, onDemand: 3 });
      await workload.patch(spotPercentage(100));
      await settled(workload, { spot: 3, onDemand: 0 });
      await workload.patch(spotPercentage(0));
      await settled(workload, { spot: 0, onDemand: 3 });
    },
  },
  {
    name: 'ten pods from before, all on spot, are adopted at 70 % with three evictions',
    namespace: 'adopted',
    evictions: 3,
    patches: { most: 10 },
    play: async (testbed, namespace) => {
      const declaration = ten(namespace, 70);
      await testbed.cluster.api.apply(manifest(declaration));
      const workload = new Workload(testbed.cluster.api, declaration);
      await verdictOn(testbed, workload, 'Balanced');
      // The seven that stayed are as they were.
      expect(splitOf(await workload.ready(10))).toEqual({ spot: 0, onDemand: 3, unsteered: 7 });
    },
  },
  {
    name: 'a PodDisruptionBudget that allows none is told once, and moves go on when it is relaxed',
    namespace: 'budget',
    evictions: 2,
    patches: 4,
    play: (testbed, namespace) =>
      watched(testbed, ten(namespace, 60), 1, async (workload) => {
        await testbed.cluster.api.apply(pdb(namespace, 'web', 10));
        await workload.patch(spotPercentage(80));
        await heldBecause(testbed, workload, 'PdbBlocks');
        expect(testbed.evictions(namespace)).toBe(0);
        await testbed.cluster.api.apply(pdb(namespace, 'web', 8));
        await settled(workload, { spot: 8, onDemand: 2 });
        expect(await eventsOn(testbed, workload, 'MoveBlocked')).toHaveLength(1);
      }),
  },
  {
    name: 'two PodDisruptionBudgets on one pod are told and nothing is asked',
    namespace: 'budgets',
    evictions: 0,
    patches: 0,
    play: async (testbed, namespace) => {
      const workload = await testbed.declare(ten(namespace, 60));
      await testbed.cluster.api.apply([pdb(namespace, 'one', 1), pdb(namespace, 'two', 1)]);
      await workload.ready(10);
      await workload.patch(spotPercentage(80));
      await heldBecause(testbed, workload, 'TwoPdbs');
    },
  },
  {
    name: 'pods that must not be disrupted stay',
    namespace: 'protected',
    evictions: 0,
    patches: 0,
    play: async (testbed, namespace) => {
      const podAnnotations = { 'karpenter.sh/do-not-disrupt': 'true' };
      const workload = await testbed.declare(ten(namespace, 60, { podAnnotations }));
      await workload.ready(10);
      await workload.patch(spotPercentage(80));
      await heldBecause(testbed, workload, 'NoCandidate');
    },
  },
  {
    name: 'the only pod of a workload stays',
    namespace: 'single',
    evictions: 0,
    patches: 0,
    play: async (testbed, namespace) => {
      const policy = { spotPercentage: 0, minOnDemand: 0 };
      const workload = await testbed.declare(ten(namespace, 0, { replicas: 1, policy }));
      await workload.ready(1);
      await workload.patch(spotPercentage(100));
      await heldBecause(testbed, workload, 'SingleReplica');
    },
  },
  {
    name: 'a closed window holds, and opens for what waits',
    namespace: 'window',
    evictions: 2,
    patches: 4,
    play: async (testbed, namespace) => {
      const workload = await testbed.declare(ten(namespace, 60));
      await workload.ready(10);
      // A minute in February; then every minute.
      const closed = {
        [policyKeys.disruptionSchedule]: '0 0 29 2 *',
        [policyKeys.disruptionDuration]: '1m',
      };
      await workload.patch(annotate({ ...closed, [policyKeys.spotPercentage]: '80' }));
      await verdictOn(testbed, workload, 'WindowClosed');
      expect(testbed.evictions(namespace)).toBe(0);
      await workload.patch(annotate({ [policyKeys.disruptionSchedule]: '* * * * *' }));
      await settled(workload, { spot: 8, onDemand: 2 });
      expect(await eventsOn(testbed, workload, 'WindowOpened')).toHaveLength(1);
    },
  },
  {
    name: 'a paused workload stays as it is',
    namespace: 'paused',
    evictions: 0,
    patches: 0,
    play: async (testbed, namespace) => {
      const workload = await testbed.declare(ten(namespace, 60));
      await workload.ready(10);
      await workload.patch(annotate({ [policyKeys.paused]: 'true', [policyKeys.spotPercentage]: '80' }));
      await verdictOn(testbed, workload, 'Paused');
    },
  },
  {
    name: 'a type that has no room for the pods is not evicted toward',
    namespace: 'absent',
    evictions: 0,
    patches: 0,
    play: async (testbed, namespace) => {
      const template = {
        metadata: { labels: { app: 'web' } },
        spec: {
          nodeSelector: { 'karpenter.sh/nodepool': 'on-demand' },
          containers: [{ name: 'app', image: 'registry.k8s.io/pause:3.10' }],
        },
      };
      const workload = await testbed.declare(ten(namespace, 0, { spec: { template } }));
      await workload.ready(10);
      await workload.patch(spotPercentage(50));
      await heldBecause(testbed, workload, 'NoCapacity');
    },
  },
  {
    name: 'five changes of the policy two seconds apart cost no more than the last one',
    namespace: 'changes',
    evictions: 2,
    patches: eachOfTenOnce,
    play: (testbed, namespace) =>
      watched(testbed, ten(namespace, 50), 1, async (workload) => {
        for (const percentage of [60, 90, 20, 80, 70]) {
          await workload.patch(spotPercentage(percentage));
          await new Promise((resolve) => setTimeout(resolve, 2_000));
        }
        await settled(workload, { spot: 7, onDemand: 3 });
      }),
  },
  ...(['OrderedReady', 'Parallel'] as const).map(
    (podManagementPolicy): Scenario => ({
      name: `a StatefulSet managed ${podManagementPolicy} moves the ordinals that are in the wrong place`,
      namespace: `stateful-${podManagementPolicy.toLowerCase()}`,
      evictions: 3,
      patches: 0,
      play: async (testbed, namespace) => {
        const policy = { spotPercentage: 0, minOnDemand: 0 };
        const kind = 'StatefulSet';
        const workload = await testbed.declare(
          ten(namespace, 0, { kind, replicas: 6, policy, spec: { podManagementPolicy } }),
        );
        await settled(workload, { spot: 0, onDemand: 6 });
        await workload.patch(spotPercentage(50));
        await settled(workload, { spot: 3, onDemand: 3 });
      },
    }),
  ),
  {
    name: 'a canary of a StatefulSet numbered from 3 is over when Kubernetes is done with it',
    namespace: 'canary',
    evictions: 3,
    patches: 0,
    play: async (testbed, namespace) => {
      const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } };
      const declaration = ten(namespace, 0, {
        kind: 'StatefulSet',
        replicas: 6,
        policy: { spotPercentage: 0, minOnDemand: 0 },
        spec: { ordinals: { start: 3 }, podManagementPolicy: 'Parallel', updateStrategy },
      });
      const workload = await testbed.declare(declaration);
      await settled(workload, { spot: 0, onDemand: 6 });
      const { api } = testbed.cluster;
      await api.apply(manifest({ ...declaration, version: '2' }));
      await waitFor('four of six to be updated, and no more', async () => {
        const { status } = await api.get<Updated>('StatefulSet', workload.path);
        return status.updatedReplicas === 4 && status.currentReplicas === 2;
      });
      await workload.patch(spotPercentage(50));
      await settled(workload, { spot: 3, onDemand: 3 });
    },
  },
  {
    name: 'of three replicas with two that never get ready the third one stays',
    namespace: 'crashing',
    evictions: 1,
    patches: 0,
    play: async (testbed, namespace) => {
      const policy = { spotPercentage: 0, minOnDemand: 0 };
      const podAnnotations = { [HOLD_ANNOTATION]: 'ready' };
      const workload = await testbed.declare(ten(namespace, 0, { replicas: 3, policy, podAnnotations }));
      const [healthy] = await waitFor('three pods', async () => {
        const pods = await workload.pods();
        return pods.length === 3 && pods.every(({ spec }) => spec.nodeName !== undefined) ? pods : undefined;
      });
      const fieldSelector = `metadata.name=${healthy?.metadata?.name}`;
      await testbed.cluster.releasePods({ namespace, fieldSelector });
      await waitFor('one to be Ready', async () => (await workload.pods()).filter(isReady).length === 1);
      await workload.patch(spotPercentage(100));
      await verdictOn(testbed, workload, 'MoveInFlight');
      const uids = (await workload.pods()).map(({ metadata }) => metadata?.uid);
      expect(uids).toContain(healthy?.metadata?.uid);
    },
  },
  {
    name: 'pods of a stranger with the same labels are not touched',
    namespace: 'foreign',
    evictions: 2,
    patches: 4,
    play: async (testbed, namespace) => {
      const expression = { key: 'app', operator: 'In', values: ['web'] };
      const labels = { app: 'web', of: 'stranger' };
      const stranger = {
        ...manifest({ ...ten(namespace, 0), name: 'stranger', replicas: 5 }),
        metadata: { name: 'stranger', namespace },
        spec: {
          replicas: 5,
          selector: { matchLabels: { of: 'stranger' } },
          template: {
            metadata: { labels },
            spec: { containers: [{ name: 'app', image: 'registry.k8s.io/pause:3.10' }] },
          },
        },
      };
      const declared = ten(namespace, 60, { spec: { selector: { matchExpressions: [expression] } } });
      const workload = await testbed.declare(declared);
      await workload.ready(10);
      await testbed.cluster.api.apply(stranger);
      const strangers = () =>
        testbed.cluster.api
          .list('Pod', { namespace, labelSelector: 'of=stranger' })
          .then((pods) => pods.map(({ metadata }) => metadata?.uid ?? '').toSorted());
      const before = await waitFor('five strangers', strangers, { until: (uids) => uids.length === 5 });
      await workload.patch(spotPercentage(80));
      await waitFor('two moves', () => testbed.evictions(namespace) === 2, { timeoutMs: 90_000 });
      await verdictOn(testbed, workload, 'Balanced');
      expect(await strangers()).toEqual(before);
    },
  },
];

/** After the first eviction something changes, and no other one follows. */
const interruptions: readonly {
  name: string;
  namespace: string;
  reason: string | undefined;
  patch: object;
}[] = [
  {
    name: 'a label that is removed midway ends all moving',
    namespace: 'unlabelled',
    reason: undefined,
    patch: { metadata: { labels: { [enabledLabel]: null } } },
  },
  {
    name: 'an annotation that becomes invalid midway ends all moving',
    namespace: 'invalid',
    reason: 'InvalidPolicy',
    patch: annotate({ [policyKeys.spotPercentage]: 'lots' }),
  },
];

describe('moves, of workloads side by side', () => {
  let testbed: Testbed;
  let floors: Floors;
  const played = new Map<string, Promise<void>>();
  const stopped = new Map<string, number>();

  beforeAll(async () => {
    testbed = await openTestbed({ patient: true, configuration: { rebalance } });
    floors = await Floors.follow(testbed.cluster);
    await onSpotBefore(testbed, ten('adopted', 70));
    for (const scenario of scenarios) {
      played.set(scenario.namespace, scenario.play(testbed, scenario.namespace));
    }
    for (const { namespace, reason, patch } of interruptions) {
      played.set(namespace, interrupt(namespace, reason, patch));
    }
    for (const promise of played.values()) promise.catch(() => undefined);
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  async function interrupt(namespace: string, reason: string | undefined, patch: object): Promise<void> {
    const policy = { spotPercentage: 0, minOnDemand: 0 };
    const workload = await testbed.declare(ten(namespace, 0, { policy }));
    await workload.ready(10);
    await workload.patch(spotPercentage(100));
    await waitFor('an eviction', () => testbed.evictions(namespace) > 0, { timeoutMs: 60_000 });
    await workload.patch(patch);
    if (reason !== undefined) await verdictOn(testbed, workload, reason);
    await workload.ready(10);
    stopped.set(namespace, testbed.evictions(namespace));
  }

  it.each(scenarios)('$name', ({ namespace }) => played.get(namespace), 200_000);
  it.each(interruptions)('$name', ({ namespace }) => played.get(namespace), 200_000);

  it('write no more than this, ever', async () => {
    await Promise.allSettled(played.values());
    await expectWrites(testbed, scenarios);
    for (const [namespace, evictions] of stopped) {
      expect(testbed.evictions(namespace)).toBe(evictions);
      // Of ten that it would have been.
      expect(evictions).toBeLessThan(4);
    }
  }, 200_000);

  it('follow a node whose label says something else from now on', async () => {
    const namespace = 'relabelled';
    const policy = { spotPercentage: 50, minOnDemand: 1 };
    const workload = await testbed.declare({ name: 'web', namespace, replicas: 10, policy });
    const pods = await workload.ready(10);
    const node = pods.find((pod) => typeOf(pod) === 'spot')?.spec.nodeName ?? '';
    const wrong = pods.filter(({ spec }) => spec.nodeName === node).length;
    const label = { 'karpenter.sh/capacity-type': 'on-demand' };
    await testbed.cluster.api.patch('Node', node, { metadata: { labels: label } });
    await waitFor(`${wrong} moves`, () => testbed.evictions(namespace) === wrong, { timeoutMs: 60_000 });
    await workload.ready(10);
    await verdictOn(testbed, workload, 'Balanced');
    expect(testbed.evictions(namespace)).toBe(wrong);
  }, 120_000);

  it('every workload keeps its floor at each eviction', async () => {
    expect(await floors.breaches()).toEqual([]);
  });
});

/** The pods are there before anybody opted in, while there is no room on on-demand. */
async function onSpotBefore(testbed: Testbed, declaration: Declaration): Promise<void> {
  const { cluster } = testbed;
  const { spec, metadata, ...rest } = manifest(declaration);
  const nodes = Array.from({ length: 6 }, (_, index) => `on-demand-${index + 1}`);
  await Promise.all(nodes.map((node) => cluster.cordon(node)));
  const bare = { ...rest, metadata: { ...metadata, labels: {}, annotations: {} }, spec };
  await cluster.api.apply([optedInNamespace(declaration.namespace), bare]);
  await new Workload(cluster.api, declaration).ready(declaration.replicas);
  await Promise.all(nodes.map((node) => cluster.uncordon(node)));
}
