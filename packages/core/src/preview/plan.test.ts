import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { targetOnDemand } from '../distribution/target.ts';
import { parseSchedule } from '../policy/schedule.ts';
import { policyNumbers, propertyRuns } from '../testing/arbitraries.ts';
import { deploymentOf, NOON, pdb, podsOf, policy, settings, snapshot } from '../testing/rebalance.ts';
import { planFor } from './plan.ts';

const seventy = { spotPercentage: 70, minOnDemand: 1 };
const options = { replicas: 10, policyChanges: true, nowMs: NOON, replacementMs: 20_000 };
/** Ten pods of 70/1, and another policy to be tried. */
const trying = (percentage: number, floor: number, change: Parameters<typeof snapshot>[0] = {}) =>
  snapshot({ pods: podsOf(7, 3, seventy), policy: policy(percentage, floor), ...change });

describe('a plan', () => {
  it('has the moves in their order, one cooldown after each replacement', () => {
    const { moves, outcome, after, endsAtMs } = planFor(trying(70, 5), options);
    expect(outcome).toBe('reached');
    expect(after).toEqual({ spot: 5, onDemand: 5 });
    expect(moves.map(({ pod, to, replacement }) => [pod, to, replacement])).toEqual([
      ['s6', 'on-demand', 'on-demand'],
      ['s5', 'on-demand', 'on-demand'],
    ]);
    // The change settles for 3 s; each replacement takes 20 s, and 10 s of cooldown lie between the two.
    expect(moves.map(({ atMs }) => atMs - NOON)).toEqual([3_000, 33_000]);
    expect(endsAtMs - NOON).toBe(53_000);
  });

  it('waits for a window and says until when', () => {
    const schedule = parseSchedule('0 22 * * *');
    if (!schedule.ok) throw new Error(schedule.expected);
    const window = { schedule: schedule.value, durationMs: 3_600_000 };
    const { moves, waits } = planFor(trying(80, 1, { policy: policy(80, 1, { window }) }), options);
    expect(waits).toEqual([{ reason: 'WindowClosed', untilMs: NOON + 10 * 3_600_000 }]);
    expect(moves.map(({ atMs }) => atMs)).toEqual([NOON + 10 * 3_600_000]);
  });

  it('begins no more moves within a minute than the budget has', () => {
    const change = { settings: { ...settings, cooldownMs: 0, minPodAgeMs: 0, maxMovesPerMinute: 2 } };
    const { moves } = planFor(trying(0, 1, change), { ...options, replacementMs: 1_000 });
    const seconds = moves.map(({ atMs }) => (atMs - NOON) / 1_000);
    expect(seconds).toEqual([3, 6, 63, 66, 123, 126, 183]);
  });

  it('stops where the controller would, and says why', () => {
    const strict = pdb({ minAvailable: 10, expectedPods: 10, currentHealthy: 10, disruptionsAllowed: 0 });
    const { moves, outcome, last } = planFor(trying(80, 1, { pdbs: [strict] }), options);
    expect([moves, outcome, last.reason]).toEqual([[], 'stopped', 'PdbBlocks']);
  });

  it('removes the pods that a ReplicaSet would, and needs no move after that', () => {
    const plan = planFor(trying(70, 1), { ...options, replicas: 4, policyChanges: false });
    expect(plan.scaling.map(({ pod }) => pod)).toEqual(['o2', 's6', 's5', 'o1', 's4', 's3']);
    expect(plan).toMatchObject({ moves: [], outcome: 'reached', after: { spot: 3, onDemand: 1 } });
  });

  it('creates the pods that admission would, and needs no move after that', () => {
    const plan = planFor(trying(70, 1), { ...options, replicas: 20, policyChanges: false });
    expect(plan).toMatchObject({ moves: [], outcome: 'reached', after: { spot: 14, onDemand: 6 } });
    expect(plan.scaling).toHaveLength(10);
  });

  it('tells of pods for which there is no room', () => {
    const { nodes, ...rest } = trying(100, 0);
    const full = new Map(
      [...nodes].map(([name, node]) => [name, { ...node, free: { cpu: 0, memory: 0, pods: 0 } }]),
    );
    const plan = planFor({ ...rest, nodes: full }, { ...options, replicas: 12, policyChanges: false });
    expect(plan.unscheduled).toBe(2);
  });

  it('reaches every policy from every mix in as many moves as pods are off, and never below the floor on the way', () => {
    fc.assert(
      fc.property(policyNumbers, fc.integer({ min: 2, max: 12 }), fc.nat(12), (numbers, replicas, spots) => {
        const spot = Math.min(spots, replicas);
        const pods = podsOf(spot, replicas - spot, numbers);
        const tried = snapshot({
          pods,
          policy: policy(numbers.spotPercentage, numbers.minOnDemand),
          workload: deploymentOf(pods),
        });
        const plan = planFor(tried, { ...options, replicas });
        const onDemand = targetOnDemand(numbers, replicas);
        expect(plan.outcome).toBe('reached');
        expect(plan.moves).toHaveLength(Math.abs(replicas - spot - onDemand));
        expect(plan.after).toEqual({ spot: replicas - onDemand, onDemand });
        expect(plan.fewestOnDemand).toBeGreaterThanOrEqual(Math.min(plan.floor, replicas - spot));
      }),
      propertyRuns,
    );
  });
});
