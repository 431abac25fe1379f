import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { enabledLabel, policyKeys } from '@spotalis/core';
import { verdictOn } from '../testbed/moves.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { splitOf } from '../workloads/workload.ts';

describe('read-only mode', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({
      configuration: { readOnlyMode: true, rebalance: { cooldown: '1s', minPodAge: '1s' } },
    });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('explains a workload that drifts, and writes nothing but Leases and Events', async () => {
    const policy = { spotPercentage: 100, minOnDemand: 0 };
    const workload = await testbed.declare({ name: 'web', namespace: 'watched', replicas: 6, policy });
    expect(splitOf(await workload.ready(6)).unsteered).toBe(6);
    await verdictOn(testbed, workload, 'ReadOnly');
    await workload.patch({ metadata: { annotations: { [policyKeys.spotPercentage]: '0' } } });
    await workload.scale(8);
    await workload.ready(8);
    await verdictOn(testbed, workload, 'ReadOnly');
    await workload.patch({ metadata: { labels: { [enabledLabel]: null } } });

    expect(testbed.writes()).toEqual([]);
    expect(testbed.evictions()).toBe(0);
  }, 120_000);
});
