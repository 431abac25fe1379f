import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { type CapacityType, otherType } from '../../capacity/type.ts';
import { typeForNext } from '../next.ts';
import { ordinalType } from '../../policy/slot.ts';
import { drift, type PolicyNumbers, targetSpot } from '../../policy/target.ts';
import { foreignKeys, podKeys } from '../../policy/keys.ts';
import { policyNumbers, propertyRuns } from '../../testing/arbitraries.ts';
import {
  annotated,
  deploymentOf,
  NOON,
  ordinalPod,
  pod,
  podsOf,
  policy,
  settings,
  snapshot,
  statefulSet,
} from '../../testing/rebalance.ts';
import { afterMove, type MoveHistory } from '../../disruption/cooldown.ts';
import { decide } from './decide.ts';
import type { WorkloadPod } from '../../cluster/workload-pod.ts';
import type { RebalanceSnapshot } from './snapshot.ts';
import type { RebalanceTrace } from './verdict.ts';

const AN_HOUR = 3_600_000;
const counted = (pods: readonly WorkloadPod[]) => {
  const spot = pods.filter((one) => one.annotations[podKeys.capacityType] === 'spot').length;
  return { spot, onDemand: pods.length - spot };
};

/** The lowest rank that no pod of the type holds, as the ledger gives it. */
function freeRank(pods: readonly WorkloadPod[], type: CapacityType): number {
  const used = new Set(
    pods
      .filter((one) => one.annotations[podKeys.capacityType] === type)
      .map((one) => Number(one.annotations[podKeys.rank] ?? -1)),
  );
  let rank = 0;
  while (used.has(rank)) rank++;
  return rank;
}

interface Course {
  readonly moves: number;
  readonly pods: readonly WorkloadPod[];
  readonly last: RebalanceTrace;
  readonly writes: number;
}

/** Carries out what is decided, refilling by the admission's rule, until there is nothing left to do. */
function run(
  start: RebalanceSnapshot,
  numbers: PolicyNumbers,
  most: number,
  override: (admitted: CapacityType) => CapacityType = (admitted) => admitted,
): Course {
  let { pods } = start;
  let history: MoveHistory | null = null;
  let nowMs = NOON;
  let moves = 0;
  let writes = 0;
  for (let step = 0; step <= most; step++) {
    const { workload } = start;
    const current: RebalanceSnapshot = {
      ...start,
      pods,
      history,
      workload: workload.kind === 'Deployment' ? deploymentOf(pods) : workload,
    };
    const trace = decide(current, nowMs);
    if (trace.verdict.kind === 'nothing') return { moves, pods, last: trace, writes };
    nowMs += AN_HOUR;
    if (trace.verdict.kind === 'renumber') {
      const changes = new Map(trace.verdict.renumberings.map((one) => [one.pod.uid, one]));
      writes += changes.size;
      pods = pods.map((one) => {
        const change = changes.get(one.uid);
        if (change === undefined) return one;
        const { rank, cost } = change;
        return annotated(one, { [podKeys.rank]: String(rank), [foreignKeys.podDeletionCost]: String(cost) });
      });
      continue;
    }
    if (trace.verdict.kind !== 'move') throw new Error(`${trace.reason} at step ${step}`);
    const { move } = trace.verdict;
    moves++;
    const left = pods.filter(({ uid }) => uid !== move.pod.uid);
    const admitted = nextType(current, numbers, left, move.pod.name);
    const type = override(admitted);
    const options = { createdAtMs: NOON, startedAtMs: NOON };
    const made =
      workload.kind === 'StatefulSet'
        ? { ...ordinalPod(0, type, options), name: move.pod.name }
        : pod(`n${moves}`, { ...options, type, rank: freeRank(left, type), numbers });
    pods = [...left, { ...made, uid: `new-${moves}` }];
    history = afterMove(
      history,
      {
        from: move.from,
        to: move.to,
        outcome: type === move.to ? 'succeeded' : 'failed',
        override: type === admitted ? null : 'a field',
      },
      nowMs - 1_800_000,
    );
  }
  throw new Error('no end');
}

function nextType(
  { workload }: RebalanceSnapshot,
  numbers: PolicyNumbers,
  left: readonly WorkloadPod[],
  name: string,
): CapacityType {
  if (workload.kind === 'Deployment') return typeForNext(numbers, counted(left));
  return ordinalType(numbers, Number(name.split('-')[1]), workload.firstOrdinal);
}

/** What admission creates beside these, without the controller. */
function grown(pods: readonly WorkloadPod[], numbers: PolicyNumbers, more: number): readonly WorkloadPod[] {
  const all = [...pods];
  for (let i = 0; i < more; i++) {
    const type = typeForNext(numbers, counted(all));
    all.push(pod(`g${i}`, { type, rank: freeRank(all, type), numbers }));
  }
  return all;
}

/** The pods in the order in which the ReplicaSet controller keeps them. */
const bySurvival = (pods: readonly WorkloadPod[]): readonly WorkloadPod[] => {
  const costOf = (one: WorkloadPod) => Number(one.annotations[foreignKeys.podDeletionCost] ?? 0);
  return pods.toSorted((a, b) => costOf(b) - costOf(a));
};

const ordinalOf = ({ name }: WorkloadPod): number => Number(name.split('-')[1]);

const free = { ...settings, allowSingleReplica: true };
const size = fc.nat(20);

describe('repairing a drift', () => {
  it('takes exactly |d| moves from any mix, and none after (B6)', () => {
    fc.assert(
      fc.property(policyNumbers, policyNumbers, size, size, (numbers, before, spot, onDemand) => {
        fc.pre(spot + onDemand > 0);
        const pods = podsOf(spot, onDemand, before);
        const start = snapshot({
          pods,
          policy: policy(numbers.spotPercentage, numbers.minOnDemand),
          settings: free,
        });
        const d = Math.abs(drift(numbers, { spot, onDemand }));
        const end = run(start, numbers, d + 2);
        expect(end.moves).toBe(d);
        expect(end.last).toMatchObject({ reason: 'Balanced', standing: { drift: 0 } });
        expect(counted(end.pods).spot).toBe(targetSpot(numbers, spot + onDemand));
      }),
      propertyRuns,
    );
  });

  it('leaves ranks by which growth is exact at every later size, and costs nothing more', () => {
    fc.assert(
      fc.property(policyNumbers, policyNumbers, size, size, size, (numbers, before, spot, onDemand, more) => {
        fc.pre(spot + onDemand > 0);
        const { spotPercentage, minOnDemand } = numbers;
        const start = snapshot({
          pods: podsOf(spot, onDemand, before),
          policy: policy(spotPercentage, minOnDemand),
          settings: free,
        });
        const repaired = run(start, numbers, Math.abs(drift(numbers, { spot, onDemand })) + 2).pods;
        const pods = grown(repaired, numbers, more);
        const survivors = bySurvival(pods);
        for (let left = 1; left <= survivors.length; left++) {
          expect(counted(survivors.slice(0, left)).spot).toBe(targetSpot(numbers, left));
        }
        expect(run({ ...start, pods }, numbers, 0)).toMatchObject({ moves: 0, writes: 0 });
      }),
      propertyRuns,
    );
  });

  it('of a StatefulSet moves what the floor needs at every smaller size, and then |d|, each ordinal once', () => {
    fc.assert(
      fc.property(
        policyNumbers,
        fc.array(fc.constantFrom<CapacityType>('spot', 'on-demand'), { minLength: 1, maxLength: 30 }),
        fc.nat(4),
        fc.boolean(),
        (numbers, types, firstOrdinal, ordered) => {
          const pods = types.map((type, index) => ordinalPod(firstOrdinal + index, type));
          const workload = statefulSet(pods.length, {
            firstOrdinal,
            podManagement: ordered ? 'OrderedReady' : 'Parallel',
          });
          const start = snapshot({
            pods,
            workload,
            policy: policy(numbers.spotPercentage, numbers.minOnDemand),
            settings: free,
          });
          const { spot, onDemand } = counted(pods);
          const below = counted(pods.slice(0, numbers.minOnDemand)).spot;
          const rest = drift(numbers, { spot: spot - below, onDemand: onDemand + below });
          const moves = below + Math.abs(rest);
          const end = run(start, numbers, moves + 1);
          expect(end.moves).toBe(moves);
          expect(end.last).toMatchObject({ reason: 'Balanced', standing: { drift: 0 } });
          // Scaled down, it keeps the lowest ordinals.
          const byOrdinal = end.pods.toSorted((a, b) => ordinalOf(a) - ordinalOf(b));
          const isOff = (one: WorkloadPod): boolean =>
            ordinalType(numbers, ordinalOf(one), firstOrdinal) !== one.annotations[podKeys.capacityType];
          const pairs = byOrdinal.filter(isOff).length / 2;
          let worst = 0;
          for (let replicas = 1; replicas < pods.length; replicas++) {
            const left = counted(byOrdinal.slice(0, replicas));
            expect(left.onDemand).toBeGreaterThanOrEqual(Math.min(numbers.minOnDemand, replicas));
            worst = Math.max(worst, Math.abs(left.spot - targetSpot(numbers, replicas)));
          }
          expect(worst).toBeLessThanOrEqual(pairs);
          expect(end.last.standing?.ordinals?.worst?.off ?? 0).toBe(worst);
        },
      ),
      propertyRuns,
    );
  });

  it('ends after three moves where another webhook changes every replacement, and says which field', () => {
    fc.assert(
      fc.property(policyNumbers, size, size, (numbers, spot, onDemand) => {
        const d = drift(numbers, { spot, onDemand });
        fc.pre(d !== 0);
        const asked = policy(numbers.spotPercentage, numbers.minOnDemand);
        const pods = podsOf(spot, onDemand, numbers);
        const start = snapshot({ pods, policy: asked, settings: free });
        const end = run(start, numbers, 50, otherType);
        expect(end.moves).toBe(3);
        expect(end.last).toMatchObject({
          reason: 'PlacementOverridden',
          verdict: { kind: 'nothing' },
          facts: { override: 'a field' },
        });
      }),
      propertyRuns,
    );
  });

  it('goes on when a pod has come that stays where it was sent', () => {
    const numbers = { spotPercentage: 50, minOnDemand: 0 };
    const pods = podsOf(8, 2, numbers);
    const endedAtMs = NOON - AN_HOUR;
    const history = { from: 'spot', to: 'on-demand', endedAtMs, failures: 3, override: 'a field' } as const;
    const reasonWith = (...more: readonly WorkloadPod[]) => {
      const all = [...pods, ...more];
      const start = snapshot({ pods: all, policy: policy(50, 0), workload: deploymentOf(all), history });
      return decide(start, NOON).reason;
    };
    const since = { createdAtMs: endedAtMs + 1, numbers, rank: 2 };
    expect(reasonWith()).toBe('PlacementOverridden');
    expect(reasonWith(pod('n', { ...since, type: 'spot' }))).toBe('PlacementOverridden');
    expect(reasonWith(pod('n', { ...since, type: 'on-demand' }))).toBe('SpotSurplus');
  });

  it.each([
    ['60 to 80 % with ten pods', 6, 4, 80, 0, 2],
    ['70 to 80 % with ten pods and a floor', 7, 3, 80, 1, 1],
    ['ten adopted pods, all on spot, at 70 %', 10, 0, 70, 0, 3],
    ['a floor raised from 1 to 5', 7, 3, 70, 5, 2],
    ['0 to 100 %', 0, 10, 100, 0, 10],
    ['100 to 0 %', 10, 0, 0, 0, 10],
  ])('%s', (_, spot, onDemand, percentage, floor, moves) => {
    const numbers = { spotPercentage: percentage, minOnDemand: floor };
    const adopted = podsOf(spot, onDemand, { spotPercentage: 50, minOnDemand: 0 });
    const start = snapshot({ pods: adopted, policy: policy(percentage, floor) });
    expect(run(start, numbers, moves + 2).moves).toBe(moves);
  });
});
