import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import type { Split } from '../workloads/workload.ts';
import { expectExactBurst } from '../testbed/burst.ts';

const minuteMs = 60_000;

describe('a minute without Redis', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed();
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('is survived by every process, and the ledger agrees with the pods again afterwards', async () => {
    const policy = { spotPercentage: 70, minOnDemand: 2 };
    const workload = await testbed.declare({ name: 'web', namespace: 'minute', replicas: 20, policy });
    await workload.ready(20);
    const services = [...testbed.installation.webhooks, ...testbed.installation.controllers];
    const pids = services.map(({ component }) => component.pid);

    await testbed.redis.kill();
    const killedAt = performance.now();
    // All the while pods come and go, admitted without the ledger and unseen by it.
    let replicas = 20;
    const splits: Split[] = [];
    await waitFor(
      'a minute to go by',
      async () => {
        replicas = replicas === 20 ? 30 : 20;
        await workload.scale(replicas);
        splits.push(await workload.splitWhenCreated(replicas));
        return performance.now() - killedAt >= minuteMs;
      },
      { timeoutMs: 2 * minuteMs, intervalMs: 3_000 },
    );
    for (const { unsteered, onDemand } of splits) {
      expect(unsteered).toBe(0);
      expect(onDemand).toBeGreaterThanOrEqual(policy.minOnDemand);
    }
    expect(services.map(({ component }) => component.pid)).toEqual(pids);

    await testbed.redis.restart();
    await testbed.ledgerReady();
    const revision = await workload.revision();
    await waitFor(
      'the ledger to hold the pods and nothing else',
      async () => {
        const { spot, onDemand } = await workload.split();
        const counts = await testbed.ledger.counts(revision);
        return {
          agree: counts.spot === spot && counts.onDemand === onDemand && counts.pending === 0,
          counts,
        };
      },
      { timeoutMs: 90_000, until: ({ agree }) => agree },
    );
    expect(services.map(({ component }) => component.pid)).toEqual(pids);
    await expectExactBurst(testbed);
  }, 300_000);
});
