/** @needs redis control-plane @also kubernetes-1.30 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';

const policy = { spotPercentage: 70, minOnDemand: 1 };

describe('a Namespace and a workload applied in one go', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({ delayAnswersMs: 200, patient: true, proxied: true });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('are exact from the first pod, ten times in a row (B1)', async () => {
    for (let turn = 0; turn < 10; turn++) {
      const namespace = `new-${turn}`;
      const workload = await testbed.declare({ name: 'web', namespace, replicas: 1 + turn, policy });
      expect(await workload.splitWhenCreated(1 + turn)).toEqual(workload.exactly(1 + turn));
      expect(testbed.creations(namespace).bypassed).toBe(0);
    }
  }, 120_000);

  it('are exact from the first pod, ten at the same time (B1)', async () => {
    const namespaces = Array.from({ length: 10 }, (_, index) => `together-${index}`);
    const workloads = await Promise.all(
      namespaces.map((namespace) => testbed.declare({ name: 'web', namespace, replicas: 10, policy })),
    );
    for (const workload of workloads) {
      expect(await workload.splitWhenCreated(10)).toEqual(workload.exactly(10));
    }
  }, 120_000);

  it('are exact from the first pod when watches are 100 ms behind (B1)', async () => {
    testbed.proxy.slow(100);
    for (let turn = 0; turn < 5; turn++) {
      const namespace = `behind-${turn}`;
      const workload = await testbed.declare({ name: 'web', namespace, replicas: 5, policy });
      expect(await workload.splitWhenCreated(5)).toEqual(workload.exactly(5));
    }
    testbed.proxy.resume();
  }, 120_000);

  it('are exact from the first pod of a StatefulSet (B10)', async () => {
    const workload = await testbed.declare({
      kind: 'StatefulSet',
      name: 'db',
      namespace: 'stateful',
      replicas: 5,
      policy,
      spec: { podManagementPolicy: 'Parallel' },
    });
    expect(await workload.splitWhenCreated(5)).toEqual(workload.exactly(5));
  }, 120_000);

  it('take no eviction, nor any other write', () => {
    expect(testbed.evictions()).toBe(0);
    expect(testbed.writes()).toEqual([]);
  });
});
