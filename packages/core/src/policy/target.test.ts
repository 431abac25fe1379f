import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { policyNumbers, propertyRuns } from '../testing/arbitraries.ts';
import { drift, type PolicyNumbers, targetOnDemand, targetSpot } from './target.ts';

const policy = (spotPercentage: number, minOnDemand: number): PolicyNumbers => ({
  spotPercentage,
  minOnDemand,
});

describe('the target', () => {
  it.each([
    [10, 70, 1, 7],
    [10, 90, 4, 6],
    [20, 80, 2, 16],
    [500, 33, 7, 165],
    [100, 7, 0, 7],
    [3, 50, 0, 2],
    [1, 1, 0, 1],
    [0, 100, 0, 0],
  ])('of %i replicas at %i %% and floor %i is %i on spot', (replicas, percentage, floor, spot) => {
    expect(targetSpot(policy(percentage, floor), replicas)).toBe(spot);
    expect(targetOnDemand(policy(percentage, floor), replicas)).toBe(replicas - spot);
  });

  it('keeps every replica on on-demand when the floor is not below the replicas', () => {
    expect(targetSpot(policy(100, 5), 5)).toBe(0);
    expect(targetSpot(policy(100, 9), 5)).toBe(0);
  });

  it('rounds up by integers for every percentage', () => {
    const wrong: string[] = [];
    for (let p = 0; p <= 100; p++) {
      for (let n = 0; n <= 2000; n++) {
        const exact = (n * p - ((n * p) % 100)) / 100 + ((n * p) % 100 > 0 ? 1 : 0);
        if (targetSpot(policy(p, 0), n) !== exact) wrong.push(`n=${n} p=${p}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('grows by 0 or 1 with each replica and never breaks the floor, in every small case (L1)', () => {
    const wrong: string[] = [];
    const floors = [0, 1, 2, 3, 5, 8, 13, 20, 40, 77, 99, 100, 101, 500, 1999, 2000, 2001];
    for (let p = 0; p <= 100; p++) {
      for (const m of floors) {
        const numbers = policy(p, m);
        let before = 0;
        for (let n = 1; n <= 2000; n++) {
          const spot = targetSpot(numbers, n);
          if (spot - before !== 0 && spot - before !== 1) wrong.push(`step at p=${p} m=${m} n=${n}`);
          if (n - spot < (m < n ? m : n)) wrong.push(`floor at p=${p} m=${m} n=${n}`);
          before = spot;
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('grows by 0 or 1 with each replica and never breaks the floor (L1)', () => {
    fc.assert(
      fc.property(policyNumbers, fc.integer({ min: 0, max: 1_000_000 }), (numbers, n) => {
        const step = targetSpot(numbers, n + 1) - targetSpot(numbers, n);
        expect([0, 1]).toContain(step);
        expect(targetOnDemand(numbers, n)).toBeGreaterThanOrEqual(Math.min(numbers.minOnDemand, n));
      }),
      propertyRuns,
    );
  });

  it('keeps the floor over two revisions that each aim at their own share (L5)', () => {
    const wrong: string[] = [];
    for (let p = 0; p <= 100; p++) {
      for (const m of [0, 1, 2, 3, 5, 8, 20, 40]) {
        const numbers = policy(p, m);
        for (let a = 0; a <= 40; a++) {
          for (let b = 0; b <= a; b++) {
            const onDemand = targetOnDemand(numbers, a) + targetOnDemand(numbers, b);
            const spotError = a + b - onDemand - targetSpot(numbers, a + b);
            const least = m === 0 ? 0 : -m;
            if (onDemand < Math.min(m, a + b) || spotError < least || spotError > 1) {
              wrong.push(`p=${p} m=${m} a=${a} b=${b}`);
            }
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('keeps the floor over two revisions of any size (L5)', () => {
    const size = fc.integer({ min: 0, max: 20_000 });
    fc.assert(
      fc.property(policyNumbers, size, size, (numbers, a, b) => {
        const spotError = targetSpot(numbers, a) + targetSpot(numbers, b) - targetSpot(numbers, a + b);
        expect(targetOnDemand(numbers, a) + targetOnDemand(numbers, b)).toBeGreaterThanOrEqual(
          Math.min(numbers.minOnDemand, a + b),
        );
        expect(spotError).toBeLessThanOrEqual(1);
        expect(spotError).toBeGreaterThanOrEqual(0 - numbers.minOnDemand);
      }),
      propertyRuns,
    );
  });
});

describe('drift', () => {
  it('counts spot pods too many above zero and too few below', () => {
    expect(drift(policy(70, 1), { spot: 10, onDemand: 0 })).toBe(3);
    expect(drift(policy(70, 1), { spot: 7, onDemand: 3 })).toBe(0);
    expect(drift(policy(70, 1), { spot: 5, onDemand: 5 })).toBe(-2);
  });
});
