import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { CapacityType } from '../../capacity/type.ts';
import { deletionCost } from '../../policy/slot.ts';
import { type PolicyNumbers, spotAmongSurvivors } from '../../policy/target.ts';
import { policyNumbers, propertyRuns } from '../../testing/arbitraries.ts';
import { pod } from '../../testing/rebalance.ts';
import type { Member } from '../../cluster/workload-pod.ts';
import { renumberingsOf } from './renumber.ts';

const types: readonly CapacityType[] = ['spot', 'on-demand'];
const member = (name: string, type: CapacityType, rank: number | null, cost: number): Member => ({
  pod: pod(name, { type }),
  type,
  onUnknownNode: false,
  rank,
  cost,
  ordinal: null,
  doom: null,
});
const ranked = (numbers: PolicyNumbers, type: CapacityType, rank: number): Member =>
  member(`${type}-${rank}`, type, rank, deletionCost(numbers, type, rank));
const admitted = (numbers: PolicyNumbers, spot: number, onDemand: number): Member[] =>
  types.flatMap((type) =>
    Array.from({ length: type === 'spot' ? spot : onDemand }, (_, rank) => ranked(numbers, type, rank)),
  );
const applied = (numbers: PolicyNumbers, members: readonly Member[]): Member[] => {
  const changes = new Map(renumberingsOf(numbers, members).map((one) => [one.pod.name, one]));
  return members.map((one) => {
    const { rank, cost } = changes.get(one.pod.name) ?? one;
    return { ...one, rank, cost };
  });
};
const size = fc.nat(15);
const policy = { spotPercentage: 50, minOnDemand: 0 };

describe('renumbering', () => {
  it('writes nothing on pods as admission ranks them, at every size and mix', () => {
    fc.assert(
      fc.property(policyNumbers, size, size, (numbers, spot, onDemand) => {
        expect(renumberingsOf(numbers, admitted(numbers, spot, onDemand))).toEqual([]);
      }),
      propertyRuns,
    );
  });

  const anyMembers = fc
    .array(
      fc.record({
        type: fc.constantFrom(...types),
        rank: fc.option(fc.nat(20)),
        cost: fc.integer({ min: -20, max: 2 }),
        before: policyNumbers,
        typed: fc.boolean(),
      }),
      { maxLength: 20 },
    )
    // Half of them with a cost that once belonged to their rank.
    .map((list) =>
      list.map(({ type, rank, cost, before, typed }, index) =>
        member(`p${index}`, type, rank, typed && rank !== null ? deletionCost(before, type, rank) : cost),
      ),
    );

  it('gives each type the ranks from 0 on, once each, at the cost of the policy, from any ranks and costs', () => {
    fc.assert(
      fc.property(policyNumbers, anyMembers, (numbers, members) => {
        const after = applied(numbers, members);
        for (const type of types) {
          const same = after.filter((one) => one.type === type);
          expect(same.map(({ rank }) => rank).toSorted((a, b) => (a ?? -1) - (b ?? -1))).toEqual([
            ...same.keys(),
          ]);
          for (const { rank, cost } of same) expect(cost).toBe(deletionCost(numbers, type, rank ?? -1));
        }
        expect(renumberingsOf(numbers, after)).toEqual([]);
      }),
      propertyRuns,
    );
  });

  it('leaves the best mix at every scale-down, from any ranks and costs (L4)', () => {
    fc.assert(
      fc.property(policyNumbers, anyMembers, (numbers, members) => {
        const after = applied(numbers, members);
        const spot = after.filter(({ type }) => type === 'spot').length;
        const counts = { spot, onDemand: after.length - spot };
        const survivors = after.toSorted((a, b) => b.cost - a.cost);
        for (let k = 1; k <= survivors.length; k++) {
          const held = survivors.slice(0, k).filter(({ type }) => type === 'spot').length;
          expect(held).toBe(spotAmongSurvivors(numbers, counts, k));
        }
      }),
      propertyRuns,
    );
  });

  it('leaves a pod alone whose rank and cost belong together, where no other holds that rank', () => {
    fc.assert(
      fc.property(policyNumbers, anyMembers, (numbers, members) => {
        const changes = renumberingsOf(numbers, members);
        for (const type of types) {
          const same = members.filter((one) => one.type === type);
          const right = same.filter(
            ({ rank, cost }) =>
              rank !== null && rank < same.length && cost === deletionCost(numbers, type, rank),
          );
          const kept = new Set(right.map(({ rank }) => rank)).size;
          expect(changes.filter((one) => one.type === type)).toHaveLength(same.length - kept);
        }
      }),
      propertyRuns,
    );
  });

  it('tells a cost in its place from one that only happens to be that of another rank', () => {
    // Positions of 50/0: spot 0, 2, 4; on-demand 1, 3.
    const members = [
      ranked(policy, 'spot', 0),
      member('swapped', 'spot', 2, -2),
      member('early', 'spot', 1, -4),
      ranked(policy, 'on-demand', 0),
      ranked(policy, 'on-demand', 1),
    ];
    expect(renumberingsOf(policy, members)).toEqual([
      { pod: { name: 'swapped', uid: 'uid-swapped', resourceVersion: '1' }, type: 'spot', rank: 1, cost: -2 },
      { pod: { name: 'early', uid: 'uid-early', resourceVersion: '1' }, type: 'spot', rank: 2, cost: -4 },
    ]);
  });

  it('moves the younger of two pods on one rank, onto the free one', () => {
    const members = [
      member('a', 'spot', 0, 0),
      member('b', 'spot', 0, 0),
      ranked(policy, 'on-demand', 0),
      ranked(policy, 'on-demand', 1),
    ];
    expect(renumberingsOf(policy, members)).toEqual([
      { pod: { name: 'b', uid: 'uid-b', resourceVersion: '1' }, type: 'spot', rank: 1, cost: -2 },
    ]);
  });
});
