import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import { MoveLog } from '../testbed/move-log.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';

const perMinute = 12;
const maxInFlight = { cluster: 4, namespace: 3, node: 2 };

describe('two hundred workloads that drift at once', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({
      patient: true,
      configuration: {
        rebalance: {
          cooldown: '1s',
          minPodAge: '1s',
          maxMovesPerMinute: perMinute,
          maxInFlight,
        },
      },
    });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('are never moved faster than the budgets allow', async () => {
    const policy = { spotPercentage: 0, minOnDemand: 0 };
    const workloads = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        testbed.declare({ name: `web-${index}`, namespace: `many-${index % 4}`, replicas: 2, policy }),
      ),
    );
    const pods = (await Promise.all(workloads.map((workload) => workload.ready(2)))).flat();
    const nodes = new Map(pods.map(({ metadata, spec }) => [metadata?.name ?? '', spec.nodeName ?? '']));
    await Promise.all(
      workloads.map((workload) =>
        workload.patch({ metadata: { annotations: { [policyKeys.spotPercentage]: '100' } } }),
      ),
    );
    await waitFor('the second minute to begin', () => testbed.evictions() > perMinute, {
      timeoutMs: 120_000,
      intervalMs: 500,
    });
    const log = new MoveLog(testbed.cluster.auditLog);
    // Less than a minute by what the first of them took to the API server.
    expect(log.mostWithin(57_000)).toBe(perMinute);
    expect(log.most(() => 'cluster')).toBeLessThanOrEqual(maxInFlight.cluster);
    expect(log.most(({ namespace }) => namespace)).toBeLessThanOrEqual(maxInFlight.namespace);
    expect(log.most(({ pod }) => nodes.get(pod) ?? '')).toBeLessThanOrEqual(maxInFlight.node);
    expect(log.most(({ workload }) => workload)).toBe(1);
    expect(new Set(log.moves.map(({ pod }) => pod)).size).toBe(log.moves.length);
  }, 200_000);
});
