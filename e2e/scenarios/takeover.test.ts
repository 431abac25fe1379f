import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import { PodHistory } from './history.ts';
import { killLeader } from './moves.ts';
import { openStage, type Stage } from './stage.ts';
import { splitOf } from './workload.ts';

const times = { leaseDuration: '4s', renewDeadline: '3s', retryPeriod: '500ms' };

describe('a leader that dies in the middle of a move', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage({
      configuration: {
        controller: { leaderElection: { namespace: 'spotalis-system', ...times } },
        rebalance: { cooldown: '1s', minPodAge: '1s', maxMovesPerMinute: 1_000 },
      },
    });
  }, 120_000);

  afterAll(async () => {
    await stage?.close();
  });

  it('is followed by one that waits a minute, evicts no pod twice and none too many', async () => {
    const policy = { spotPercentage: 0, minOnDemand: 1 };
    const namespace = 'orphaned';
    const workload = await stage.declare({ name: 'web', namespace, replicas: 10, policy });
    await workload.ready(10);
    const history = await PodHistory.follow(stage.cluster, namespace);
    const leader = await waitFor('a leader', () => stage.installation.leader());
    await workload.patch({ metadata: { annotations: { [policyKeys.spotPercentage]: '30' } } });
    await waitFor('the first eviction', () => stage.evictions(namespace) > 0, {
      timeoutMs: 60_000,
      intervalMs: 10,
    });
    const killedAtMs = performance.now();
    await killLeader(stage);
    await waitFor(
      'another leader',
      async () => {
        const holder = await stage.installation.leader();
        return holder !== undefined && holder !== leader;
      },
      { timeoutMs: 20_000 },
    );
    process.stdout.write(`takeover after kill -9: ${Math.round(performance.now() - killedAtMs)} ms\n`);
    await waitFor('three pods on spot', async () => splitOf(await workload.ready(10)).spot === 3, {
      timeoutMs: 140_000,
      intervalMs: 300,
    });
    expect(performance.now() - killedAtMs).toBeGreaterThan(60_000);
    await history.stop();
    expect(stage.evictions(namespace)).toBe(3);
    for (const { onDemand } of history.states) expect(onDemand).toBeGreaterThanOrEqual(6);
  }, 220_000);
});
