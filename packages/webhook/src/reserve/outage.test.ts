import { describe, expect, it } from '@jest/globals';
import { targetSpot } from '@spotalis/core';
import * as fc from 'fast-check';
import { GoldenSequence, typeOnOwn } from './outage.ts';

const runs = { numRuns: Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000) };

describe('deciding without the ledger', () => {
  it('fills the floor before it gives anything to spot', () => {
    const policy = { spotPercentage: 100, minOnDemand: 2 };
    expect(typeOnOwn(policy, { spot: 5, onDemand: 1 }, 10, () => 0)).toBe('on-demand');
    expect(typeOnOwn(policy, { spot: 5, onDemand: 2 }, 10, () => 0)).toBe('spot');
  });

  it('gives no spot once the target is reached, and nothing but spot when all that is missing is spot', () => {
    const policy = { spotPercentage: 50, minOnDemand: 0 };
    expect(typeOnOwn(policy, { spot: 5, onDemand: 2 }, 10, () => 0)).toBe('on-demand');
    expect(typeOnOwn(policy, { spot: 2, onDemand: 5 }, 10, () => 0.999)).toBe('spot');
  });

  it('decides by the count when more pods come than the ReplicaSet is known to want', () => {
    const policy = { spotPercentage: 50, minOnDemand: 0 };
    expect(typeOnOwn(policy, { spot: 5, onDemand: 5 }, 3, () => 0.999)).toBe('spot');
  });

  it('ends within one of the target when one process sees all of a burst', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 100 }),
        fc.integer({ min: 1, max: 500 }),
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        (spotPercentage, replicas, seed) => {
          const policy = { spotPercentage, minOnDemand: 0 };
          const sequence = new GoldenSequence(seed);
          const counts = { spot: 0, onDemand: 0 };
          for (let pod = 0; pod < replicas; pod++) {
            const type = typeOnOwn(policy, counts, replicas, () => sequence.next());
            counts[type === 'spot' ? 'spot' : 'onDemand'] += 1;
          }
          expect(Math.abs(counts.spot - targetSpot(policy, replicas))).toBeLessThanOrEqual(1);
        },
      ),
      runs,
    );
  });

  it('never breaks the floor that it sees', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 100 }),
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 1, max: 100 }),
        (spotPercentage, minOnDemand, replicas) => {
          const policy = { spotPercentage, minOnDemand };
          const sequence = new GoldenSequence(0.5);
          const counts = { spot: 0, onDemand: 0 };
          for (let pod = 0; pod < replicas; pod++) {
            const type = typeOnOwn(policy, counts, replicas, () => sequence.next());
            counts[type === 'spot' ? 'spot' : 'onDemand'] += 1;
          }
          expect(counts.onDemand).toBeGreaterThanOrEqual(Math.min(minOnDemand, replicas));
        },
      ),
      runs,
    );
  });
});

describe('the golden sequence', () => {
  it('spreads any run of numbers evenly', () => {
    const sequence = new GoldenSequence(0.123);
    const below = Array.from({ length: 1000 }, () => sequence.next()).filter((number) => number < 0.3);
    expect(Math.abs(below.length - 300)).toBeLessThanOrEqual(3);
  });
});
