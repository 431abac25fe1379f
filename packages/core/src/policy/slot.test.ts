import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { CapacityType } from '../capacity/type.ts';
import { policyNumbers, propertyRuns } from '../testing/arbitraries.ts';
import { deletionCost, ordinalType, position, slotType } from './slot.ts';
import { type PolicyNumbers, spotAmongSurvivors, targetSpot } from './target.ts';

const policy = (spotPercentage: number, minOnDemand: number): PolicyNumbers => ({
  spotPercentage,
  minOnDemand,
});
const ranked = (type: CapacityType, count: number) =>
  Array.from({ length: count }, (_, rank) => ({ type, rank }));

/** Where removing the lowest cost first leaves a spot count that is not the best possible. */
function faultsOfOrder(numbers: PolicyNumbers, spot: number, onDemand: number): string[] {
  const faults: string[] = [];
  const survivors = [...ranked('spot', spot), ...ranked('on-demand', onDemand)]
    .map(({ type, rank }) => ({ type, cost: deletionCost(numbers, type, rank) }))
    .toSorted((a, b) => b.cost - a.cost);
  let held = 0;
  for (const [index, pod] of survivors.entries()) {
    // Equal costs of different types would leave the order to chance.
    const next = survivors[index + 1];
    if (next?.cost === pod.cost && next.type !== pod.type) faults.push(`tie at ${index}`);
    if (pod.type === 'spot') held++;
    const best = spotAmongSurvivors(numbers, { spot, onDemand }, index + 1);
    if (held !== best) {
      faults.push(
        `${JSON.stringify({ ...numbers, spot, onDemand, k: index + 1 })}: ${held}, best is ${best}`,
      );
    }
  }
  return faults;
}

describe('a slot', () => {
  it('is spot when its replica raises the target', () => {
    const types = Array.from({ length: 10 }, (_, i) => slotType(policy(70, 1), i));
    expect(types.filter((type) => type === 'spot')).toHaveLength(7);
    expect(types[0]).toBe('on-demand');
  });

  it('gives a StatefulSet pod the type of its ordinal counted from the start', () => {
    const numbers = policy(60, 2);
    for (let i = 0; i < 20; i++) expect(ordinalType(numbers, i + 5, 5)).toBe(slotType(numbers, i));
    expect(ordinalType(policy(100, 0), 4, 5)).toBe('on-demand');
  });

  it('keeps a StatefulSet exact at every size', () => {
    fc.assert(
      fc.property(policyNumbers, fc.nat(200), fc.nat(5), (numbers, size, start) => {
        let spot = 0;
        for (let i = 0; i < size; i++) if (ordinalType(numbers, start + i, start) === 'spot') spot++;
        expect(spot).toBe(targetSpot(numbers, size));
      }),
      propertyRuns,
    );
  });
});

describe('a position', () => {
  it('is the index of the slot of that rank, in every small case', () => {
    const wrong: string[] = [];
    const size = 500;
    for (let p = 0; p <= 100; p++) {
      for (const m of [0, 1, 2, 3, 5, 8, 20, 40, 99, 100, 101, 499, 500, 501, 10_000]) {
        const numbers = policy(p, m);
        const next = { spot: 0, 'on-demand': 0 };
        for (let i = 0; i < size; i++) {
          const type = slotType(numbers, i);
          const found = position(numbers, type, next[type]++);
          if (found !== i) wrong.push(`p=${p} m=${m} ${type} slot ${i}: ${found}`);
        }
        for (const type of ['spot', 'on-demand'] as const) {
          if (position(numbers, type, next[type]) < size) wrong.push(`p=${p} m=${m} ${type} has too many`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('is the index of the slot of that rank', () => {
    fc.assert(
      fc.property(policyNumbers, fc.nat(500_000), (numbers, index) => {
        const type = slotType(numbers, index);
        const spotBefore = targetSpot(numbers, index);
        expect(position(numbers, type, type === 'spot' ? spotBefore : index - spotBefore)).toBe(index);
      }),
      propertyRuns,
    );
  });

  it('lies beyond every slot when the policy has none of that rank', () => {
    expect(position(policy(0, 0), 'spot', 3)).toBe(1_000_003);
    expect(position(policy(100, 2), 'on-demand', 1)).toBe(1);
    expect(position(policy(100, 2), 'on-demand', 2)).toBe(1_000_002);
    expect(position(policy(100, 0), 'on-demand', 0)).toBe(1_000_000);
  });

  it('rises with the rank', () => {
    fc.assert(
      fc.property(
        policyNumbers,
        fc.constantFrom('spot' as const, 'on-demand' as const),
        fc.nat(10_000),
        (numbers, type, rank) => {
          expect(position(numbers, type, rank + 1)).toBeGreaterThan(position(numbers, type, rank));
        },
      ),
      propertyRuns,
    );
  });
});

describe('the deletion cost', () => {
  it('is the negative position, and zero is plain zero', () => {
    expect(deletionCost(policy(70, 1), 'spot', 0)).toBe(-1);
    expect(Object.is(deletionCost(policy(70, 1), 'on-demand', 0), 0)).toBe(true);
  });

  it('fits an int32 for ten thousand pods of any policy', () => {
    for (let p = 0; p <= 100; p++) {
      for (const type of ['spot', 'on-demand'] as const) {
        const cost = deletionCost(policy(p, 10_000), type, 10_000);
        expect(Number.isInteger(cost) && cost >= -(2 ** 31)).toBe(true);
      }
    }
  });

  it('leaves the best possible mix at every scale-down, in every small case (L4)', () => {
    const wrong: string[] = [];
    for (let p = 0; p <= 100; p += 1) {
      for (const m of [0, 1, 2, 3, 5, 8, 20]) {
        for (let spot = 0; spot <= 12; spot++) {
          for (let onDemand = 0; onDemand <= 12; onDemand++) {
            wrong.push(...faultsOfOrder(policy(p, m), spot, onDemand));
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('leaves the best possible mix at every scale-down (L4)', () => {
    fc.assert(
      fc.property(policyNumbers, fc.nat(120), fc.nat(120), (numbers, spot, onDemand) => {
        expect(faultsOfOrder(numbers, spot, onDemand)).toEqual([]);
      }),
      propertyRuns,
    );
  });
});
