import { describe, expect, it } from '@jest/globals';
import { type PolicyNumbers, spotAfterGrowth, targetSpot } from '@spotalis/core';
import * as fc from 'fast-check';
import { Random } from './testing/random.ts';
import { SimulatedOrdinals } from './testing/simulated-ordinals.ts';
import { Simulation } from './testing/simulated-services.ts';

const runs = { numRuns: Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000) };

const policies = fc.record({
  spotPercentage: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 99 }) },
    fc.constantFrom(0, 100),
  ),
  minOnDemand: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 8 })),
});

/** Runs the scenario in many worlds and then lets the controller repair what is left. Returns how many went well. */
function worlds(
  scenario: (world: Simulation) => void,
  allowedDrift: (world: Simulation) => number = () => 0,
): number {
  let passed = 0;
  fc.assert(
    fc.property(fc.integer(), policies, (seed, policy) => {
      const world = new Simulation(seed, policy);
      scenario(world);
      world.observing = true;
      world.cluster.heal();
      world.settle();
      const drift = Math.abs(world.cluster.drift());
      expect(drift).toBeLessThanOrEqual(allowedDrift(world));
      world.repair();
      expect(world.evictions).toBe(drift);
      expect(world.strangers()).toEqual([]);
      passed++;
    }),
    runs,
  );
  return passed;
}

/** Grows to between these sizes and waits until all pods are ready. */
function grown(world: Simulation, least: number, most: number): number {
  world.cluster.scale(world.random.integer(least, most));
  world.settle();
  return world.cluster.replicas;
}

function reclaim(world: Simulation): void {
  const spot = world.cluster.active().filter(({ type }) => type === 'spot');
  for (const pod of spot.slice(0, world.random.integer(1, 4))) world.cluster.delete(pod);
}

/** A burst in which the ledger is out of hearing for a while. */
function stalledBurst(world: Simulation): void {
  world.cluster.scale(world.cluster.replicas + world.random.integer(5, 80));
  world.run(world.random.between(0, 400));
  world.stall(world.random.pick([50, 220, 600, 1_500]));
  world.run(world.random.pick([100, 3_000]));
}

describe('many replicas around one ledger', () => {
  it('are exact after any burst, at the last admission', () => {
    expect(
      worlds((world) => {
        for (let i = 0; i < world.random.integer(1, 4); i++) {
          const more = world.random.chance(0.1) ? world.random.integer(40, 120) : world.random.integer(1, 40);
          world.cluster.scale(world.cluster.replicas + more);
          world.run(world.random.pick([10, 300, 2_000, 20_000]));
          const { length } = world.cluster.active();
          expect(length === world.cluster.replicas ? world.cluster.drift() : 0).toBe(0);
        }
      }),
    ).toBe(runs.numRuns);
  });

  it('are exact while no controller observes anything', () => {
    expect(
      worlds((world) => {
        world.observing = false;
        for (let i = 0; i < 4; i++) {
          world.cluster.scale(world.cluster.replicas + world.random.integer(1, 30));
          world.run(world.random.pick([1_000, 20_000, 90_000]));
        }
        world.settle();
        expect(world.cluster.drift()).toBe(0);
      }),
    ).toBe(runs.numRuns);
  });

  it('are exact after scaling down and up again', () => {
    expect(
      worlds((world) => {
        let replicas = grown(world, 2, 50);
        for (let i = 0; i < 3; i++) {
          replicas = grown(world, 0, replicas);
          expect(world.cluster.drift()).toBe(0);
          replicas = grown(world, replicas + 1, replicas + 20);
          expect(world.cluster.drift()).toBe(0);
        }
      }),
    ).toBe(runs.numRuns);
  });

  it('are exact when scaled down and up again faster than the watch is', () => {
    expect(
      worlds((world) => {
        const replicas = grown(world, 5, 40);
        world.cluster.scale(world.random.integer(1, replicas));
        world.run(world.random.pick([100, 500, 1_000]));
        world.cluster.scale(world.cluster.replicas + world.random.integer(1, 40));
      }),
    ).toBe(runs.numRuns);
  });

  it('are exact after spot nodes are reclaimed', () => {
    expect(
      worlds((world) => {
        grown(world, 5, 60);
        for (let i = 0; i < world.random.integer(1, 5); i++) {
          reclaim(world);
          world.run(world.random.pick([0, 200, 5_000]));
        }
      }),
    ).toBe(runs.numRuns);
  });

  it('are exact after users delete pods', () => {
    expect(
      worlds((world) => {
        grown(world, 5, 60);
        for (let i = 0; i < world.random.integer(1, 10); i++) {
          const active = world.cluster.active();
          if (active.length > 0) world.cluster.delete(world.random.pick(active));
          world.run(world.random.pick([0, 50, 1_000, 5_000]));
        }
      }),
    ).toBe(runs.numRuns);
  });

  it('are exact after a quota rejected what they had admitted', () => {
    expect(
      worlds((world) => {
        const replicas = grown(world, 1, 20);
        world.cluster.quota = replicas + world.random.integer(0, 10);
        world.cluster.scale(replicas + world.random.integer(5, 40));
        world.run(world.random.pick([1_000, 10_000, 40_000, 100_000]));
      }),
    ).toBe(runs.numRuns);
  });

  it('are off by no more than the rejections that no later creation made good', () => {
    expect(
      worlds(
        (world) => {
          world.cluster.rejected = world.random.pick([0.02, 0.1, 0.3]);
          for (let i = 0; i < world.random.integer(1, 5); i++) {
            world.cluster.scale(world.cluster.replicas + world.random.integer(1, 30));
            world.run(world.random.pick([300, 2_000, 20_000]));
          }
        },
        ({ cluster }) => cluster.rejections,
      ),
    ).toBe(runs.numRuns);
  });

  it('are at most two pods off after Redis was flushed in a burst', () => {
    expect(
      worlds(
        (world) => {
          for (let i = 0; i < world.random.integer(2, 5); i++) {
            world.cluster.scale(world.cluster.replicas + world.random.integer(1, 40));
            world.run(world.random.between(0, 1_000));
            world.ledger.flush();
            world.run(world.random.pick([0, 200, 5_000]));
          }
        },
        () => 2,
      ),
    ).toBe(runs.numRuns);
  });

  it('are at most two pods off after a failover that lost the last moments', () => {
    expect(
      worlds(
        (world) => {
          const replicas = grown(world, 1, 20);
          world.cluster.scale(replicas + world.random.integer(5, 60));
          world.run(world.random.between(50, 600));
          world.ledger.failOver(200);
          world.reconnect();
          world.run(world.random.pick([0, 500, 3_000]));
          if (world.random.chance(0.5))
            world.cluster.scale(world.cluster.replicas + world.random.integer(1, 30));
        },
        () => 2,
      ),
    ).toBe(runs.numRuns);
  });

  it('are off by no more than the decisions made alone while the ledger was not heard', () => {
    expect(
      worlds(
        (world) => {
          for (let i = 0; i < 3; i++) stalledBurst(world);
        },
        ({ decidedAlone }) => decidedAlone,
      ),
    ).toBe(runs.numRuns);
  });

  it('are told of decisions made alone, so that growth goes on exactly, without a LIST and without an observer', () => {
    let alone = 0;
    fc.assert(
      fc.property(fc.integer(), policies, (seed, policy) => {
        const world = new Simulation(seed, policy);
        const { cluster, random } = world;
        world.observing = false;
        // Two webhooks that get the same review may answer differently, and only a LIST can tell which of them counts.
        world.repeated = 0;
        cluster.scale(random.integer(1, 20));
        world.run(3_000);
        const { lists } = world;
        for (let i = 0; i < 2; i++) stalledBurst(world);
        world.run(4_000);
        const before = cluster.active();
        const spot = before.filter(({ type }) => type === 'spot').length;
        const more = random.integer(1, 30);
        cluster.scale(cluster.replicas + more);
        world.run(4_000);
        const after = cluster.active();
        expect(after).toHaveLength(cluster.replicas);
        expect(after.filter(({ type }) => type === 'spot')).toHaveLength(
          spotAfterGrowth(cluster.policy, { spot, onDemand: before.length - spot }, more),
        );
        expect(world.lists).toBe(lists);
        alone += world.decidedAlone;
      }),
      runs,
    );
    expect(alone).toBeGreaterThan(runs.numRuns);
  });

  it('are off by no more than the pods that bypassed them', () => {
    expect(
      worlds(
        (world) => {
          world.cluster.bypassed = 0.1;
          for (let i = 0; i < 4; i++) {
            world.cluster.scale(world.cluster.replicas + world.random.integer(1, 30));
            world.run(5_000);
          }
        },
        ({ cluster }) => cluster.active().filter(({ token }) => token.startsWith('pod-of-')).length,
      ),
    ).toBe(runs.numRuns);
  });

  it('reach the nearest mix that growth can, after the policy changed', () => {
    expect(
      worlds(
        (world) => {
          grown(world, 2, 40);
          const { cluster, random } = world;
          const before = cluster.active();
          const spot = before.filter(({ type }) => type === 'spot').length;
          const start = { spot, onDemand: before.length - spot };
          cluster.policy = { spotPercentage: random.integer(0, 100), minOnDemand: random.integer(0, 8) };
          const more = random.integer(1, 60);
          cluster.scale(before.length + more);
          world.settle();
          const now = cluster.active().filter(({ type }) => type === 'spot').length;
          expect(now).toBe(spotAfterGrowth(cluster.policy, start, more));
        },
        () => Number.POSITIVE_INFINITY,
      ),
    ).toBe(runs.numRuns);
  });

  it('are exact at every size after the policy changed and the controller that renumbered went away', () => {
    fc.assert(
      fc.property(fc.integer(), policies, policies, (seed, before, after) => {
        const world = new Simulation(seed, before);
        grown(world, 2, 30);
        world.cluster.policy = after;
        world.repair();
        world.renumber();
        world.run(world.watchLagMs);
        world.observing = false;
        for (let i = 0; i < 2; i++) {
          let replicas = grown(world, world.cluster.replicas + 1, world.cluster.replicas + 20);
          expect(world.cluster.drift()).toBe(0);
          expect(world.renumber()).toBe(0);
          while (replicas > 1 && world.random.chance(0.8)) {
            replicas = grown(world, 1, replicas - 1);
            expect(world.cluster.drift()).toBe(0);
          }
        }
      }),
      runs,
    );
  });

  it('count pods of which nobody knows the type, with no controller to tell of any pod', () => {
    let checked = 0;
    fc.assert(
      fc.property(fc.integer(), policies, (seed, policy) => {
        const world = new Simulation(seed, policy);
        const { cluster } = world;
        world.observing = false;
        Object.assign(cluster, { bypassed: 1, unrecognised: 1 });
        const untyped = grown(world, 1, 6);
        cluster.bypassed = 0;
        let replicas = grown(world, untyped + 10, 40);
        const { onDemand } = cluster.counts();
        expect(onDemand).toBeGreaterThanOrEqual(Math.min(policy.minOnDemand, replicas - untyped));
        // So few of them were admitted that share and floor cannot be met yet.
        if (cluster.drift() !== 0 || onDemand < policy.minOnDemand) return;
        for (let i = 0; i < 3; i++) {
          grown(world, untyped, replicas);
          replicas = grown(world, replicas, replicas + 5);
          expect(cluster.drift()).toBe(0);
          checked++;
        }
      }),
      runs,
    );
    expect(checked).toBeGreaterThan(runs.numRuns);
  });

  it('list rarely in a burst', () => {
    const world = new Simulation(7, { spotPercentage: 33, minOnDemand: 7 });
    world.cluster.scale(500);
    world.settle();
    expect(world.cluster.active().filter(({ type }) => type === 'spot')).toHaveLength(
      targetSpot(world.cluster.policy, 500),
    );
    expect(world.lists / world.decisions).toBeLessThan(0.05);
  });
});

describe('a StatefulSet', () => {
  /** Policies, sizes, restarts and droughts come and go; spot has capacity again in the end. */
  async function lived(seed: number, policy: PolicyNumbers, next: PolicyNumbers): Promise<SimulatedOrdinals> {
    const random = new Random(seed);
    const set = new SimulatedOrdinals(random, policy);
    await set.scale(random.integer(1, 40));
    for (let i = 0; i < 12; i++) {
      if (i === 6) set.policy = next;
      if (random.chance(0.1)) await set.drought(random.chance(0.5));
      if (random.chance(0.3)) await set.scale(random.integer(1, 40));
      else await set.restart();
    }
    await set.drought(false);
    return set;
  }

  it('is exact at every size as long as the policy stays and spot has capacity', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), policies, async (seed, policy) => {
        const random = new Random(seed);
        const set = new SimulatedOrdinals(random, policy);
        for (let i = 0; i < 12; i++) {
          if (random.chance(0.5)) await set.scale(random.integer(0, 40));
          else await set.restart();
          expect(set.driftAt(set.replicas)).toBe(0);
        }
      }),
      runs,
    );
  });

  it('keeps its floor at every smaller size once it is repaired, whatever happened to it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), policies, policies, async (seed, before, after) => {
        const set = await lived(seed, before, after);
        const mismatched = set.mismatched();
        await set.repair();
        expect(set.moves).toBeLessThanOrEqual(mismatched);
        expect(set.driftAt(set.replicas)).toBe(0);
        const pairs = set.mismatched() / 2;
        for (let replicas = set.replicas - 1; replicas > 0; replicas--) {
          expect(set.onDemandAt(replicas)).toBeGreaterThanOrEqual(Math.min(after.minOnDemand, replicas));
          expect(Math.abs(set.driftAt(replicas))).toBeLessThanOrEqual(pairs);
        }
      }),
      runs,
    );
  });

  it('needs no more moves at a smaller size than it is off there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), policies, policies, async (seed, before, after) => {
        const set = await lived(seed, before, after);
        await set.repair();
        await set.scale(new Random(seed).integer(1, set.replicas));
        const [off, moves] = [Math.abs(set.driftAt(set.replicas)), set.moves];
        await set.repair();
        expect(set.moves - moves).toBe(off);
      }),
      runs,
    );
  });
});
