/** @needs redis control-plane @also kubernetes-1.30 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { slotType } from '@spotalis/core';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import {
  type Declaration,
  manifest,
  type Pod,
  splitOf,
  typeOf,
  type Workload,
} from '../workloads/workload.ts';

const policy = { spotPercentage: 60, minOnDemand: 1 };

const ordinalOf = ({ metadata }: Pod): number => Number(/-(\d+)$/.exec(metadata?.name ?? '')?.[1]);

describe('StatefulSets (B10)', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({ delayAnswersMs: 200, patient: true });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  const statefulSet = (namespace: string, replicas: number, spec: object): Declaration => ({
    kind: 'StatefulSet',
    name: 'db',
    namespace,
    replicas,
    policy,
    spec: { ...spec },
  });

  /** Each pod is of the type of its place, so that any number of them is exact. */
  function expectPlaces(workload: Workload, pods: readonly Pod[], start = 0): void {
    for (const pod of pods) {
      expect({ pod: pod.metadata?.name, type: typeOf(pod) }).toEqual({
        pod: pod.metadata?.name,
        type: slotType(policy, ordinalOf(pod) - start),
      });
    }
    expect(splitOf(pods)).toEqual(workload.exactly(pods.length));
  }

  it.each(['OrderedReady', 'Parallel'])(
    'managed %s are exact at every size of 3 -> 7 -> 2',
    async (podManagementPolicy) => {
      const namespace = podManagementPolicy.toLowerCase();
      const workload = await testbed.declare(statefulSet(namespace, 3, { podManagementPolicy }));
      expectPlaces(workload, await workload.ready(3));
      for (const replicas of [7, 2]) {
        await workload.scale(replicas);
        expectPlaces(workload, await workload.ready(replicas));
      }
      expect(testbed.creations(namespace).bypassed).toBe(0);
      expect(testbed.evictions(namespace)).toBe(0);
    },
    120_000,
  );

  it('numbered from 5 begin with the first place', async () => {
    const workload = await testbed.declare(statefulSet('numbered', 6, { ordinals: { start: 5 } }));
    const pods = await workload.ready(6);
    expect(pods.map(ordinalOf).toSorted((a, b) => a - b)).toEqual([5, 6, 7, 8, 9, 10]);
    expectPlaces(workload, pods, 5);
  }, 120_000);

  it('give a pod that comes back the type that it had', async () => {
    const workload = await testbed.declare(statefulSet('again', 4, { podManagementPolicy: 'Parallel' }));
    const before = await workload.ready(4);
    const typeByName = (pods: readonly Pod[]) =>
      Object.fromEntries(
        pods
          .map((pod) => [pod.metadata?.name, typeOf(pod)] as const)
          .toSorted(([a = ''], [b = '']) => a.localeCompare(b)),
      );
    await Promise.all(
      before.map(({ metadata }) => testbed.cluster.api.delete('Pod', `again/${metadata?.name}`)),
    );
    const after = await waitFor('four other pods', async () => {
      const pods = await workload.ready(4);
      return pods.some(({ metadata }) => before.some((old) => old.metadata?.uid === metadata?.uid))
        ? undefined
        : pods;
    });
    expect(typeByName(after)).toEqual(typeByName(before));
    expectPlaces(workload, after);
  }, 120_000);

  it('are exact after a rolling update, which makes each pod anew in its place', async () => {
    const declared = statefulSet('updated', 5, {});
    const workload = await testbed.declare(declared);
    await workload.ready(5);
    await testbed.cluster.api.apply(manifest({ ...declared, version: '2' }));
    const pods = await waitFor('five pods of version 2', async () => {
      const ready = await workload.ready(5);
      return ready.every(({ spec }) => JSON.stringify(spec).includes('"value":"2"')) ? ready : undefined;
    });
    expectPlaces(workload, pods);
    expect(testbed.evictions('updated')).toBe(0);
  }, 120_000);

  it('take no write at all', () => {
    expect(testbed.writes()).toEqual([]);
  });
});
