import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { drift, type PolicyNumbers } from '@spotalis/core';
import { PodHistory } from '../workloads/history.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { type Declaration, manifest, type Split, splitOf, type Workload } from '../workloads/workload.ts';
import { Revisions } from './revisions.ts';

const versionOf = (pod: { spec: object }): unknown =>
  JSON.stringify(pod.spec).match(/"VERSION","value":"(\w+)"/)?.[1];

/** The split at the moment when the pods of this version are all there is. */
async function rolledOut(workload: Workload, replicas: number, version: string) {
  return waitFor(
    `${replicas} pods of version ${version} and no others`,
    async () => {
      const pods = await workload.pods();
      return pods.length === replicas && pods.every((pod) => versionOf(pod) === version)
        ? splitOf(pods)
        : undefined;
    },
    { timeoutMs: 120_000 },
  );
}

describe('rollouts (B3)', () => {
  let testbed: Testbed;
  let restsInAll = 0;

  beforeAll(async () => {
    testbed = await openTestbed({ delayAnswersMs: 200, patient: true });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  const strategies = [
    { name: '25 % surge, 25 % unavailable', minOnDemand: 1, maxSurge: '25%', maxUnavailable: '25%' },
    { name: '100 % surge, none unavailable', minOnDemand: 1, maxSurge: '100%', maxUnavailable: 0 },
    { name: 'no surge, one unavailable', minOnDemand: 1, maxSurge: 0, maxUnavailable: 1 },
    { name: 'no surge, one unavailable, and no floor', minOnDemand: 0, maxSurge: 0, maxUnavailable: 1 },
  ];

  function declaration(
    namespace: string,
    rollingUpdate: object,
    { replicas = 10, minOnDemand = 1 } = {},
  ): Declaration {
    return {
      name: 'web',
      namespace,
      replicas,
      policy: { spotPercentage: 70, minOnDemand },
      spec: { strategy: { type: 'RollingUpdate', rollingUpdate } },
    };
  }

  /** L5: each has its own share, so that together they are as near to theirs as that allows. */
  function expectUnion(policy: PolicyNumbers, revisions: readonly Split[]): void {
    const sum = (type: 'spot' | 'onDemand'): number =>
      revisions.reduce((all, revision) => all + revision[type], 0);
    const off = drift(policy, { spot: sum('spot'), onDemand: sum('onDemand') });
    expect(off).toBeLessThanOrEqual(1);
    expect(off).toBeGreaterThanOrEqual(0 - policy.minOnDemand);
  }

  it.each(strategies)(
    'end exact, and keep the floor and each revision its share all along with $name',
    async ({ name, minOnDemand, ...rollingUpdate }) => {
      const namespace = `rollout-${strategies.findIndex((strategy) => strategy.name === name)}`;
      const declared = declaration(namespace, rollingUpdate, { minOnDemand });
      const workload = await testbed.declare(declared);
      await workload.ready(10);
      const history = await PodHistory.follow(testbed.cluster, namespace);
      const revisions = await Revisions.follow(testbed.cluster, namespace);
      await testbed.cluster.api.apply(manifest({ ...declared, version: '2' }));
      expect(await rolledOut(workload, 10, '2')).toEqual(workload.exactly(10));
      await history.stop();
      expect(history.states.length).toBeGreaterThan(10);
      for (const { spot, onDemand, unsteered } of history.states) {
        expect(onDemand).toBeGreaterThanOrEqual(Math.min(minOnDemand, spot + onDemand));
        expect(unsteered).toBe(0);
      }
      const rests = await revisions.rests();
      restsInAll += rests.length;
      for (const both of rests) {
        expect(both).toEqual(both.map(({ spot, onDemand }) => workload.exactly(spot + onDemand)));
        expectUnion(workload.policy, both);
      }
      expect(await workload.ready(10)).toHaveLength(10);
    },
    240_000,
  );

  it('were at rest with pods of both revisions: one pod at a time gives the laws above enough to look at', () => {
    expect(restsInAll).toBeGreaterThan(10);
  });

  it('rolled back midway end exact', async () => {
    const declared = declaration('rollback', { maxSurge: '25%', maxUnavailable: '25%' }, { replicas: 20 });
    const workload = await testbed.declare(declared);
    await workload.ready(20);
    await testbed.cluster.api.apply(manifest({ ...declared, version: '2' }));
    await waitFor('some pods of version 2', async () =>
      (await workload.pods()).some((pod) => versionOf(pod) === '2'),
    );
    await testbed.cluster.api.apply(manifest(declared));
    await rolledOut(workload, 20, '1');
    expect(splitOf(await workload.ready(20))).toEqual(workload.exactly(20));
  }, 240_000);

  it('paused half way hold each revision to its own share', async () => {
    const declared = declaration('paused', { maxSurge: '50%', maxUnavailable: 0 }, { replicas: 20 });
    const workload = await testbed.declare(declared);
    await workload.ready(20);
    await testbed.cluster.api.apply(manifest({ ...declared, version: '2' }));
    await waitFor('some pods of version 2', async () =>
      (await workload.pods()).some((pod) => versionOf(pod) === '2'),
    );
    await workload.patch({ spec: { paused: true } });
    const deployment = await testbed.cluster.api.get<{ metadata: { uid: string } }>(
      'Deployment',
      workload.path,
    );
    const pods = await waitFor('both ReplicaSets to stand still', async () => {
      const sets = await testbed.cluster.api.list<{
        metadata: { ownerReferences?: readonly { uid: string }[] };
        spec: { replicas?: number };
        status: { readyReplicas?: number; replicas?: number };
      }>('ReplicaSet', { namespace: 'paused' });
      const still = sets.filter(
        ({ metadata }) => metadata.ownerReferences?.[0]?.uid === deployment.metadata.uid,
      );
      const settled = still.every(
        ({ spec, status }) =>
          spec.replicas === (status.readyReplicas ?? 0) && spec.replicas === (status.replicas ?? 0),
      );
      return settled ? workload.pods() : undefined;
    });
    for (const version of ['1', '2']) {
      const ofVersion = pods.filter((pod) => versionOf(pod) === version);
      expect(splitOf(ofVersion)).toEqual(workload.exactly(ofVersion.length));
    }
    await workload.patch({ spec: { paused: false } });
    expect(await rolledOut(workload, 20, '2')).toEqual(workload.exactly(20));
  }, 240_000);

  it('an autoscaler that scales up during a rollout leaves it exact', async () => {
    const declared = declaration('autoscaled', { maxSurge: '25%', maxUnavailable: '25%' });
    const workload = await testbed.declare(declared);
    await workload.ready(10);
    await testbed.cluster.api.apply(manifest({ ...declared, version: '2', replicas: 10 }));
    await workload.scale(24);
    expect(await rolledOut(workload, 24, '2')).toEqual(workload.exactly(24));
  }, 240_000);

  it('takes no eviction and no other write', () => {
    expect(testbed.evictions()).toBe(0);
    expect(testbed.writes()).toEqual([]);
  });
});
