import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import { openStage, type Stage } from './stage.ts';

const perMinute = 12;

describe('a hundred workloads that drift at once', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage({
      configuration: {
        rebalance: {
          cooldown: '1s',
          minPodAge: '1s',
          maxMovesPerMinute: perMinute,
          maxInFlight: { cluster: 4, namespace: 3, node: 2 },
        },
      },
    });
  }, 120_000);

  afterAll(async () => {
    await stage?.close();
  });

  it('are never moved faster than the budget of a minute', async () => {
    const policy = { spotPercentage: 0, minOnDemand: 0 };
    const workloads = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        stage.declare({ name: `web-${index}`, namespace: `many-${index % 4}`, replicas: 2, policy }),
      ),
    );
    await Promise.all(workloads.map((workload) => workload.ready(2)));
    await Promise.all(
      workloads.map((workload) =>
        workload.patch({ metadata: { annotations: { [policyKeys.spotPercentage]: '100' } } }),
      ),
    );
    await waitFor('the second minute to begin', () => stage.evictions() > perMinute, {
      timeoutMs: 120_000,
      intervalMs: 500,
    });
    const times = stage.cluster.auditLog
      .read(({ objectRef }) => objectRef?.subresource === 'eviction')
      .map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp))
      .toSorted((a, b) => a - b);
    const busiest = Math.max(
      ...times.map((from) => times.filter((at) => at >= from && at < from + 59_500).length),
    );
    expect(busiest).toBe(perMinute);
  }, 200_000);
});
