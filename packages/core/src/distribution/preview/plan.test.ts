import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { targetOnDemand } from '../../policy/target.ts';
import { parseSchedule } from '../../policy/schedule.ts';
import { policyNumbers, propertyRuns } from '../../testing/arbitraries.ts';
import type { DroughtReport } from '../droughts/bulletin.ts';
import type { Nodes } from '../../cluster/node.ts';
import type { Resources } from '../../cluster/resources.ts';
import type { WorkloadPod } from '../../cluster/workload-pod.ts';
import type { RebalanceSnapshot } from '../moves/snapshot.ts';
import {
  altered,
  deploymentOf,
  NOON,
  ordinalPod,
  pdb,
  podsOf,
  policy,
  revision,
  settings,
  snapshot,
  statefulSet,
  template,
  typeKey,
} from '../../testing/rebalance.ts';
import { planFor } from './plan.ts';

const seventy = { spotPercentage: 70, minOnDemand: 1 };
const options = { replicas: 10, policyChanges: true, nowMs: NOON, replacementMs: 20_000 };
/** Ten pods of 70/1, and another policy to be tried. */
const trying = (percentage: number, floor: number, change: Parameters<typeof snapshot>[0] = {}) =>
  snapshot({ pods: podsOf(7, 3, seventy), policy: policy(percentage, floor), ...change });

const withFree = (free: Resources, { nodes }: RebalanceSnapshot): Nodes =>
  new Map(Array.from(nodes.values(), (node) => [node.name, { ...node, free }] as const));

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

  it('has the ordinals of a StatefulSet that its floor needs, though the count is right', () => {
    const pods = Array.from('soso', (letter, ordinal) =>
      ordinalPod(ordinal, letter === 's' ? 'spot' : 'on-demand'),
    );
    const set = snapshot({ pods, workload: statefulSet(4), policy: policy(50, 1) });
    const { moves, outcome, after } = planFor(set, { ...options, replicas: 4 });
    expect(outcome).toBe('reached');
    expect(after).toEqual({ spot: 2, onDemand: 2 });
    expect(moves.map(({ pod, to }) => [pod, to])).toEqual([
      ['web-0', 'on-demand'],
      ['web-1', 'spot'],
    ]);
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

  it('takes room that is not seen for granted', () => {
    const unseen = withFree({}, trying(70, 1));
    const plan = planFor(trying(70, 1, { nodes: unseen }), {
      ...options,
      replicas: 20,
      policyChanges: false,
    });
    expect(plan).toMatchObject({ outcome: 'reached', after: { spot: 14, onDemand: 6 }, unscheduled: 0 });
  });

  it('knows no more of unseen room once a pod has left it', () => {
    const unseen = withFree({}, trying(90, 1));
    const one = trying(100, 0, { nodes: unseen });
    const first = planFor(one, { ...options, policyChanges: false });
    const smaller = planFor(one, { ...options, replicas: 5, policyChanges: false });
    expect(first).toMatchObject({ moves: [], last: { reason: 'NoCapacity' } });
    expect(smaller).toMatchObject({ moves: [], last: { reason: 'NoCapacity' } });
  });

  const busy = (inFlight: number) => ({
    budgets: { workload: inFlight, nodes: new Map(), spent: false },
  });
  /** The last of the surplus pods was evicted: nothing has come in its place, or a pod that is not Ready yet. */
  const underWay = (replacement: readonly WorkloadPod[]): RebalanceSnapshot => {
    const pods = [...podsOf(6, 3, seventy), ...replacement];
    return trying(70, 5, { pods, workload: { ...deploymentOf(pods), replicas: 10 }, ...busy(1) });
  };

  it('counts the move that is under way before it plans the next', () => {
    const coming = altered(podsOf(0, 4, seventy).at(-1)!, { ready: false, createdAtMs: NOON - 5_000 });
    const { before, moves, underWayUntilMs, after, outcome } = planFor(underWay([coming]), {
      ...options,
      policyChanges: false,
    });
    expect(before).toEqual({ spot: 6, onDemand: 4 });
    // 15 s until the pod is Ready, 10 s of cooldown, and then the one move that is left.
    expect(underWayUntilMs).toBe(NOON + 15_000);
    expect(moves.map(({ pod, atMs }) => [pod, atMs - NOON])).toEqual([['s5', 25_000]]);
    expect([outcome, after]).toEqual(['reached', { spot: 5, onDemand: 5 }]);
  });

  it('counts the pod that comes in place of one that is gone, and does not take it for a scale-up', () => {
    const plan = planFor(underWay([]), { ...options, policyChanges: false });
    expect(plan).toMatchObject({
      scaling: [],
      underWayUntilMs: NOON + 20_000,
      after: { spot: 5, onDemand: 5 },
    });
    expect(plan.moves.map(({ pod, atMs }) => [pod, atMs - NOON])).toEqual([['s5', 30_000]]);
  });

  it('goes no further than a replacement that the scheduler finds no node for', () => {
    const stuck = altered(podsOf(0, 4, seventy).at(-1)!, {
      ready: false,
      nodeName: null,
      unschedulableSinceMs: NOON - 5_000,
    });
    const { moves, outcome, last } = planFor(underWay([stuck]), { ...options, policyChanges: false });
    expect([moves.length, outcome, last.reason]).toEqual([0, 'stopped', 'MoveInFlight']);
  });

  const report: DroughtReport = {
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    uid: 'workload-1',
    state: 'open',
    sinceMs: NOON - 60_000,
    nextProbeAtMs: NOON + 60_000,
    pool: 'spot',
    poolIsOpen: false,
  };
  it.each([
    ['open', { report, poolIsOpen: false }],
    [
      'half-open',
      { report: { ...report, state: 'half-open' as const, nextProbeAtMs: null }, poolIsOpen: false },
    ],
    ['open for its placement', { report: null, poolIsOpen: true }],
  ])('creates substitutes while the breaker is told to be %s', (_state, told) => {
    const drought = { kind: 'told' as const, ...told };
    const plan = planFor(trying(70, 1, { drought }), { ...options, replicas: 20, policyChanges: false });
    expect(plan.scaling.map(({ type }) => type)).toEqual(Array.from({ length: 10 }, () => 'on-demand'));
    expect(plan.before).toEqual({ spot: 7, onDemand: 3 });
  });

  /** `values`: what the template's own node affinity asks of the label for the capacity type. */
  const bound = (...values: readonly string[]) => {
    const matchExpressions = [{ key: typeKey, operator: 'In' as const, values }];
    const required = { nodeSelectorTerms: [{ matchExpressions }] };
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
    return { ...template, spec: { affinity: { nodeAffinity } } };
  };
  const boundTo = (spot: number, onDemand: number, ...values: readonly string[]) => {
    const pods = podsOf(spot, onDemand, seventy);
    const revisions = [revision(pods.length, { template: bound(...values), ledger: { spot, onDemand } })];
    return trying(70, 1, { pods, workload: deploymentOf(pods, { revisions }) });
  };

  it.each([
    ['on-demand', boundTo(0, 10, 'on-demand'), { spot: 0, onDemand: 13 }],
    ['spot', boundTo(10, 0, 'spot'), { spot: 13, onDemand: 0 }],
  ])('creates only %s pods where the template allows no others', (type, bent, after) => {
    const plan = planFor(bent, { ...options, replicas: 13, policyChanges: false });
    expect(plan.scaling.map((step) => step.type)).toEqual([type, type, type]);
    expect(plan).toMatchObject({ after, outcome: 'stopped', last: { reason: 'PlacementConflict' } });
  });

  it('creates ordinals of the one type that the template allows', () => {
    const workload = statefulSet(0, { template: bound('on-demand') });
    const plan = planFor(trying(70, 1, { pods: [], workload }), {
      ...options,
      replicas: 3,
      policyChanges: false,
    });
    expect(plan.scaling.map(({ type }) => type)).toEqual(['on-demand', 'on-demand', 'on-demand']);
  });

  it('creates no substitutes for pods that may be nowhere but on spot', () => {
    const drought = { kind: 'told' as const, report, poolIsOpen: false };
    const plan = planFor({ ...boundTo(10, 0, 'spot'), drought }, { ...options, replicas: 12 });
    expect(plan.scaling.map(({ type }) => type)).toEqual(['spot', 'spot']);
  });

  it('leaves pods without a type that may go to neither', () => {
    const plan = planFor(boundTo(7, 3, 'reserved'), { ...options, replicas: 12, policyChanges: false });
    expect(plan.scaling.map(({ type }) => type)).toEqual([null, null]);
    expect(plan).toMatchObject({ after: { spot: 7, onDemand: 3 }, unscheduled: 0 });
  });

  it('stops in a drought that was told of, and says until when', () => {
    const drought = { kind: 'told' as const, report, poolIsOpen: false };
    const { last, outcome } = planFor(trying(90, 1, { drought }), { ...options, policyChanges: false });
    expect([outcome, last]).toMatchObject([
      'stopped',
      { reason: 'InDrought', drought: 'open', facts: { nextProbeAtMs: report.nextProbeAtMs } },
    ]);
  });

  it('tells of pods for which there is no room', () => {
    const full = withFree({ cpu: 0, memory: 0, pods: 0 }, trying(100, 0));
    const plan = planFor(trying(100, 0, { nodes: full }), { ...options, replicas: 12, policyChanges: false });
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
