import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { podKeys } from '@spotalis/core';
import { PodHistory } from './history.ts';
import { eventsOn, verdictOn } from './moves.ts';
import { openStage, type Stage } from './stage.ts';
import { type Pod, splitOf, type Workload } from './workload.ts';

/** Short, so that a drought lasts seconds: pods wait 5 s instead of 2 minutes, and 3 s instead of 1 to the next try. */
const fallbackAfterMs = 5_000;
const configuration = {
  fallback: { after: `${fallbackAfterMs}ms`, backoff: { initial: '3s', max: '10s' } },
  rebalance: {
    cooldown: '100ms',
    minPodAge: '1s',
    maxMovesPerMinute: 1_000,
    maxInFlight: { namespace: 50, node: 50, cluster: 100 },
  },
};

const isSubstitute = ({ metadata }: Pod): boolean => metadata?.annotations?.[podKeys.substitute] === 'true';

/** Waits until as many pods live, all Ready, as the policy splits them. */
async function exact(workload: Workload, replicas: number, timeoutMs = 120_000): Promise<void> {
  let seen = {};
  await waitFor(
    `${workload.path} to be split exactly`,
    async () => {
      const { spot } = (seen = splitOf(await workload.ready(replicas, timeoutMs)));
      return spot === workload.exactly(replicas).spot;
    },
    { timeoutMs, intervalMs: 200 },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; it is ${JSON.stringify(seen)}`);
  });
}

describe('a drought', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage({ configuration });
  }, 120_000);

  afterAll(async () => {
    await stage?.close();
  });

  it('in the middle of 10 -> 40 costs one waiting period, and the way back one eviction for each substitute', async () => {
    const namespace = 'burst';
    const policy = { spotPercentage: 70, minOnDemand: 2 };
    const workload = await stage.declare({ name: 'web', namespace, replicas: 10, policy });
    await workload.ready(10);
    const { cluster } = stage;
    await Promise.all([workload.scale(40), cluster.withdrawCapacity('spot')]);
    const withdrawnAtMs = performance.now();
    await workload.ready(40, fallbackAfterMs + 30_000);
    const bridgedMs = performance.now() - withdrawnAtMs;
    const removals = stage.evictions(namespace);
    const evicted = stage.cluster.auditLog
      .read(({ objectRef }) => objectRef?.subresource === 'eviction' && objectRef.namespace === namespace)
      .map(({ objectRef }) => objectRef?.name);
    expect(new Set(evicted).size).toBe(evicted.length);
    expect(removals).toBeGreaterThan(0);
    expect(splitOf(await workload.pods()).spot).toBe(0);
    const substitutes = (await workload.pods()).filter(isSubstitute).length;
    expect(substitutes).toBe(workload.exactly(40).spot);
    expect(await eventsOn(stage, workload, 'FallbackStarted')).toHaveLength(1);
    // Pods created one after another wait at the same time, not one after another.
    expect(bridgedMs).toBeLessThan(fallbackAfterMs + 30_000);

    const history = await PodHistory.follow(stage.cluster, namespace);
    const returnedAtMs = performance.now();
    await cluster.returnCapacity('spot');
    await exact(workload, 40);
    const returnMs = performance.now() - returnedAtMs;
    await waitFor(
      'the end of the drought',
      async () => (await eventsOn(stage, workload, 'FallbackEnded')).length > 0,
    );
    await verdictOn(stage, workload, 'Balanced');
    await history.stop();
    expect(stage.evictions(namespace) - removals).toBe(substitutes);
    const spots = history.states.map(({ spot }) => spot);
    expect(spots.every((spot, index) => spot >= Math.max(0, ...spots.slice(0, index)))).toBe(true);
    process.stdout.write(
      `drought: ${removals} stuck pods, all Running after ${Math.round(bridgedMs)} ms; ${substitutes} substitutes back after ${Math.round(returnMs)} ms\n`,
    );
  }, 240_000);
});
