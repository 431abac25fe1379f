import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';

describe('scaling of a Deployment', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({ delayAnswersMs: 200, patient: true });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('holds the ratio after each of ten admissions', async () => {
    const policy = { spotPercentage: 70, minOnDemand: 1 };
    const workload = await testbed.declare({ name: 'web', namespace: 'ten', replicas: 0, policy });
    for (let replicas = 1; replicas <= 10; replicas++) {
      await workload.scale(replicas);
      expect(await workload.splitWhenCreated(replicas)).toEqual(workload.exactly(replicas));
    }
  }, 120_000);

  it('holds the ratio after each step of a scale-down from 40 to 0 (B2)', async () => {
    const policy = { spotPercentage: 70, minOnDemand: 3 };
    const workload = await testbed.declare({ name: 'web', namespace: 'down', replicas: 40, policy });
    await workload.ready(40);
    for (let replicas = 39; replicas >= 0; replicas--) {
      await workload.scale(replicas);
      expect(await workload.splitWhenCreated(replicas)).toEqual(workload.exactly(replicas));
    }
  }, 240_000);

  it.each([
    { steps: [1, 10], spotPercentage: 70, minOnDemand: 1 },
    { steps: [5, 15, 8], spotPercentage: 60, minOnDemand: 2 },
    { steps: [40, 4, 40], spotPercentage: 80, minOnDemand: 2 },
  ])(
    'is exact at every size of $steps',
    async ({ steps, ...policy }) => {
      const namespace = `steps-${steps.join('-')}`;
      const workload = await testbed.declare({ name: 'web', namespace, replicas: 0, policy });
      for (const replicas of steps) {
        await workload.scale(replicas);
        expect(await workload.splitWhenCreated(replicas)).toEqual(workload.exactly(replicas));
        await workload.ready(replicas);
      }
    },
    240_000,
  );

  it('takes no eviction, nor any other write', () => {
    expect(testbed.evictions()).toBe(0);
    expect(testbed.writes()).toEqual([]);
  });
});
