import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import { PodHistory } from '../workloads/history.ts';
import { killLeader, verdictOnAll } from '../testbed/moves.ts';
import { MoveLog } from '../testbed/move-log.ts';
import { eachOfTenOnce } from '../testbed/repair.ts';
import { openTestbed, quickTakeover, type Testbed } from '../testbed/testbed.ts';
import { Floors } from './floors.ts';

const maxInFlight = { cluster: 8, namespace: 6, node: 4 };

describe('a leader that dies in the middle of a move', () => {
  let testbed: Testbed;
  let floors: Floors;

  beforeAll(async () => {
    testbed = await openTestbed({
      patient: true,
      configuration: {
        controller: { leaderElection: quickTakeover },
        rebalance: { cooldown: '1s', minPodAge: '1s', maxMovesPerMinute: 1_000, maxInFlight },
      },
    });
    floors = await Floors.follow(testbed.cluster);
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('is followed by one that waits a minute, evicts no pod twice and none too many', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    // Anywhere in the first thirty of fifty moves, and up to half a second after one of them.
    const killAfter = { moves: 1 + (seed % 30), delayMs: seed % 500 };
    process.stdout.write(`seed ${seed}: ${JSON.stringify(killAfter)}\n`);
    const policy = { spotPercentage: 0, minOnDemand: 1 };
    const namespace = 'orphaned';
    const workload = await testbed.declare({ name: 'web', namespace, replicas: 10, policy });
    const others = await Promise.all(
      Array.from({ length: 47 }, (_, index) =>
        testbed.declare({ name: `web-${index}`, namespace: `others-${index % 3}`, replicas: 2, policy }),
      ),
    );
    const pods = [
      ...(await workload.ready(10)),
      ...(await Promise.all(others.map((other) => other.ready(2)))).flat(),
    ];
    const nodes = new Map(pods.map(({ metadata, spec }) => [metadata?.name ?? '', spec.nodeName ?? '']));
    const history = await PodHistory.follow(testbed.cluster, namespace);
    const leader = await waitFor('a leader', () => testbed.installation.leader());
    const spot = (percentage: string) => ({
      metadata: { annotations: { [policyKeys.spotPercentage]: percentage } },
    });
    await Promise.all([workload.patch(spot('30')), ...others.map((other) => other.patch(spot('100')))]);
    await waitFor(`${killAfter.moves} evictions`, () => testbed.evictions() >= killAfter.moves, {
      timeoutMs: 100_000,
      intervalMs: 10,
    });
    await delay(killAfter.delayMs);
    const killedAtMs = performance.now();
    const before = testbed.evictions();
    await killLeader(testbed);
    await waitFor(
      'another leader',
      async () => {
        const holder = await testbed.installation.leader();
        return holder !== undefined && holder !== leader;
      },
      { timeoutMs: 20_000 },
    );
    process.stdout.write(`takeover after kill -9: ${Math.round(performance.now() - killedAtMs)} ms\n`);
    await waitFor(
      'fifty moves',
      async () => {
        const splits = await Promise.all(others.map((other) => other.split()));
        return splits.every((split) => split.spot === 1) && (await workload.split()).spot === 3;
      },
      { timeoutMs: 170_000, intervalMs: 1_000 },
    );
    await verdictOnAll(testbed, [workload, ...others], 'Balanced');
    await history.stop();
    const log = new MoveLog(testbed.cluster.auditLog);
    expect(log.moves).toHaveLength(50);
    expect(log.moves.filter((move) => move.namespace === namespace)).toHaveLength(3);
    expect(log.cutShort).toBeLessThanOrEqual(maxInFlight.cluster);
    expect(testbed.evictions()).toBe(50 + log.cutShort);
    expect(new Set(log.moves.map(({ pod }) => pod)).size).toBe(50);
    expect(before).toBeLessThan(50);
    expect(log.longestPauseMs).toBeGreaterThan(60_000);
    expect(log.most(() => 'cluster')).toBeLessThanOrEqual(maxInFlight.cluster);
    expect(log.most((move) => move.namespace)).toBeLessThanOrEqual(maxInFlight.namespace);
    expect(log.most(({ pod }) => nodes.get(pod) ?? '')).toBeLessThanOrEqual(maxInFlight.node);
    expect(log.most((move) => move.workload)).toBe(1);
    for (const { onDemand } of history.states) expect(onDemand).toBeGreaterThanOrEqual(6);
    const patchesOf = (writes: ReturnType<Testbed['writes']>) =>
      writes.filter(({ what }) => what !== 'create pods/eviction');
    const patches = patchesOf(testbed.writes());
    const own = patchesOf(testbed.writes(namespace)).length;
    expect(new Set(patches.map(({ what }) => what))).toEqual(new Set(['patch pods']));
    // No pod is numbered twice. Of two pods the one that stays is, if the other node had no budget left for it.
    expect(new Set(patches.map(({ name }) => name)).size).toBe(patches.length);
    expect(own).toBeLessThanOrEqual(eachOfTenOnce.most);
    expect(patches.length - own).toBeLessThanOrEqual(others.length);
  }, 320_000);

  it('every workload keeps its floor at each eviction', async () => {
    expect(await floors.breaches()).toEqual([]);
  });
});
