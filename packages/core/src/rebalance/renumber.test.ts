import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { CapacityType } from '../capacity/type.ts';
import { deletionCost, position } from '../distribution/slot.ts';
import { type PolicyNumbers, spotAmongSurvivors } from '../distribution/target.ts';
import { policyNumbers, propertyRuns } from '../testing/arbitraries.ts';
import { pod } from '../testing/rebalance.ts';
import type { Member } from '../cluster/workload-pod.ts';
import { isOrderExact, renumberingsOf } from './renumber.ts';

const member = (name: string, type: CapacityType, cost: number): Member => ({
  pod: pod(name, { type }),
  type,
  onUnknownNode: false,
  rank: null,
  cost,
  ordinal: null,
  doom: null,
});
const ranked = (numbers: PolicyNumbers, spot: number, onDemand: number): Member[] =>
  (['spot', 'on-demand'] as const).flatMap((type) =>
    Array.from({ length: type === 'spot' ? spot : onDemand }, (_, rank) =>
      member(`${type}-${rank}`, type, deletionCost(numbers, type, rank)),
    ),
  );
const applied = (numbers: PolicyNumbers, members: readonly Member[]): Member[] => {
  const costs = new Map(renumberingsOf(numbers, members).map((one) => [one.pod.name, one.cost]));
  return members.map((one) => Object.assign({}, one, { cost: costs.get(one.pod.name) ?? one.cost }));
};
const size = fc.nat(15);

describe('an order of costs', () => {
  it('is exact as admission gives it, at every size and mix: growth and scale-down write nothing (L4)', () => {
    fc.assert(
      fc.property(policyNumbers, size, size, (numbers, spot, onDemand) => {
        expect(renumberingsOf(numbers, ranked(numbers, spot, onDemand))).toEqual([]);
      }),
      propertyRuns,
    );
  });

  it('stays exact when a pod is refilled at its rank', () => {
    fc.assert(
      fc.property(policyNumbers, size, size, fc.nat(30), (numbers, spot, onDemand, at) => {
        const members = ranked(numbers, spot, onDemand);
        const lost = members[at % Math.max(1, members.length)];
        fc.pre(lost !== undefined);
        const refilled = members.map((one) => (one === lost ? member('new', one.type!, one.cost) : one));
        expect(renumberingsOf(numbers, refilled)).toEqual([]);
      }),
      propertyRuns,
    );
  });

  it('is at fault when pods of both types cost the same', () => {
    const tie = [member('a', 'spot', 0), member('b', 'on-demand', 0)];
    expect(isOrderExact({ spotPercentage: 50, minOnDemand: 0 }, tie)).toBe(false);
    expect(
      isOrderExact({ spotPercentage: 50, minOnDemand: 0 }, [member('a', 'spot', 0), member('b', 'spot', 0)]),
    ).toBe(true);
  });
});

describe('renumbering', () => {
  const anyMembers = fc.array(
    fc.record({
      type: fc.constantFrom<CapacityType>('spot', 'on-demand'),
      cost: fc.integer({ min: -20, max: 2 }),
    }),
    { maxLength: 20 },
  );

  it('leaves the best mix at every scale-down, from any costs', () => {
    fc.assert(
      fc.property(policyNumbers, anyMembers, (numbers, list) => {
        const members = applied(
          numbers,
          list.map(({ type, cost }, index) => member(`p${index}`, type, cost)),
        );
        const spot = members.filter(({ type }) => type === 'spot').length;
        const counts = { spot, onDemand: members.length - spot };
        const survivors = members.toSorted((a, b) => b.cost - a.cost);
        for (let k = 1; k <= survivors.length; k++) {
          const held = survivors.slice(0, k).filter(({ type }) => type === 'spot').length;
          expect(held).toBe(spotAmongSurvivors(numbers, counts, k));
        }
        expect(renumberingsOf(numbers, members)).toEqual([]);
      }),
      propertyRuns,
    );
  });

  it('writes only on pods that are on no position of the policy, or on one that is taken', () => {
    fc.assert(
      fc.property(policyNumbers, anyMembers, (numbers, list) => {
        const members = list.map(({ type, cost }, index) => member(`p${index}`, type, cost));
        const changes = renumberingsOf(numbers, members);
        fc.pre(changes.length > 0);
        for (const type of ['spot', 'on-demand'] as const) {
          const same = members.filter((one) => one.type === type);
          const wanted = new Set(same.map((_, rank) => position(numbers, type, rank)));
          const kept = new Set(same.map(({ cost }) => 0 - cost).filter((at) => wanted.has(at)));
          expect(changes.filter((one) => one.type === type)).toHaveLength(same.length - kept.size);
        }
        for (const { type, rank, cost } of changes) expect(cost).toBe(deletionCost(numbers, type, rank));
      }),
      propertyRuns,
    );
  });

  it('moves the cheaper of two pods on one position, onto the free one', () => {
    const numbers = { spotPercentage: 50, minOnDemand: 0 };
    // Positions of 50/0: spot 0, 2; on-demand 1, 3.
    const members = [
      member('a', 'spot', 0),
      member('b', 'spot', 0),
      member('c', 'on-demand', -1),
      member('d', 'on-demand', -3),
    ];
    expect(renumberingsOf(numbers, members)).toEqual([
      { pod: { name: 'b', uid: 'uid-b', resourceVersion: '1' }, type: 'spot', rank: 1, cost: -2 },
    ]);
  });
});
