import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { PodHistory } from '../workloads/history.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { type Declaration, manifest, type Pod, splitOf, type Workload } from '../workloads/workload.ts';

const isNew = (pod: Pod): boolean => JSON.stringify(pod.spec).includes('"VERSION","value":"2"');

describe('an autoscaler during a rollout', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({ delayAnswersMs: 200, patient: true });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  const policy = { spotPercentage: 70, minOnDemand: 2 };

  /** Begins a rollout of 20 and returns when its first pods are there. */
  async function beginRollout(namespace: string): Promise<Workload> {
    const declared: Declaration = {
      name: 'web',
      namespace,
      replicas: 20,
      policy,
      spec: {
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      },
    };
    const workload = await testbed.declare(declared);
    await workload.ready(20);
    await testbed.cluster.api.apply(manifest({ ...declared, version: '2' }));
    await newPods(workload, 1);
    return workload;
  }

  async function newPods(workload: Workload, count: number): Promise<void> {
    await waitFor(
      `${count} pods of the new version`,
      async () => (await workload.pods()).filter(isNew).length,
      { until: (found) => found >= count, timeoutMs: 90_000 },
    );
  }

  /** The split at the moment when the new pods are all there is. */
  async function rolledOut(workload: Workload, replicas: number) {
    return waitFor(
      `${replicas} pods of the new version and no others`,
      async () => {
        const pods = await workload.pods();
        return pods.length === replicas && pods.every(isNew) ? splitOf(pods) : undefined;
      },
      { timeoutMs: 120_000 },
    );
  }

  it('that scales up twice leaves it exact, and the floor holds all along', async () => {
    const workload = await beginRollout('up');
    const history = await PodHistory.follow(testbed.cluster, 'up');
    await workload.scale(30);
    await newPods(workload, 15);
    await workload.scale(60);
    expect(await rolledOut(workload, 60)).toEqual(workload.exactly(60));
    await history.stop();
    expect(history.states.length).toBeGreaterThan(30);
    for (const { onDemand, unsteered } of history.states) {
      expect(onDemand).toBeGreaterThanOrEqual(policy.minOnDemand);
      expect(unsteered).toBe(0);
    }
  }, 240_000);

  it('that scales up, down and up again leaves it exact', async () => {
    const workload = await beginRollout('flapping');
    await workload.scale(40);
    await newPods(workload, 15);
    await workload.scale(12);
    await workload.ready(12);
    await workload.scale(40);
    expect(await rolledOut(workload, 40)).toEqual(workload.exactly(40));
  }, 240_000);

  it('that scales down once all are Ready leaves every size exact (B2)', async () => {
    const workload = await beginRollout('down');
    await workload.scale(35);
    await rolledOut(workload, 35);
    await workload.ready(35);
    for (const replicas of [24, 13, 6, 2]) {
      await workload.scale(replicas);
      expect(await workload.splitWhenCreated(replicas)).toEqual(workload.exactly(replicas));
    }
  }, 240_000);

  it('takes no eviction and no other write', () => {
    expect(testbed.evictions()).toBe(0);
    expect(testbed.writes()).toEqual([]);
  });
});
