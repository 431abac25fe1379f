import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { policyNumbers, propertyRuns } from '../testing/arbitraries.ts';
import { typeForNext } from './next.ts';
import { slotType } from '../policy/slot.ts';
import { drift, type PolicyNumbers, spotAfterGrowth, targetSpot, type TypeCounts } from '../policy/target.ts';

const policy = (spotPercentage: number, minOnDemand: number): PolicyNumbers => ({
  spotPercentage,
  minOnDemand,
});

function grow(numbers: PolicyNumbers, from: TypeCounts, more: number): TypeCounts {
  let { spot, onDemand } = from;
  for (let i = 0; i < more; i++) {
    if (typeForNext(numbers, { spot, onDemand }) === 'spot') spot++;
    else onDemand++;
  }
  return { spot, onDemand };
}

/** All |d| pods of the surplus type are evicted at once and the ledger has not noticed one of them. */
function repairOnStaleLedger(numbers: PolicyNumbers, counts: TypeCounts): number {
  const surplus = drift(numbers, counts);
  const kept = counts.spot - Math.max(0, surplus);
  return kept + grow(numbers, counts, Math.abs(surplus)).spot - counts.spot;
}

describe('the next pod', () => {
  it('follows the slot sequence on pure growth, in every small case (L2)', () => {
    const wrong: string[] = [];
    for (let p = 0; p <= 100; p++) {
      for (const m of [0, 1, 2, 3, 5, 7, 10, 37, 99, 100, 101, 250, 500, 600]) {
        const numbers = policy(p, m);
        let spot = 0;
        for (let n = 0; n < 500; n++) {
          const type = typeForNext(numbers, { spot, onDemand: n - spot });
          if (type !== slotType(numbers, n)) wrong.push(`p=${p} m=${m} n=${n}`);
          if (type === 'spot') spot++;
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('follows the slot sequence on pure growth (L2)', () => {
    fc.assert(
      fc.property(policyNumbers, fc.nat(1_000_000), (numbers, n) => {
        const spot = targetSpot(numbers, n);
        expect(typeForNext(numbers, { spot, onDemand: n - spot })).toBe(slotType(numbers, n));
      }),
      propertyRuns,
    );
  });

  it('heads for the best reachable mix from any start, in every small case (L3)', () => {
    const wrong: string[] = [];
    for (let p = 0; p <= 100; p++) {
      for (const m of [0, 1, 2, 3, 5, 8, 20, 40]) {
        const numbers = policy(p, m);
        for (let n = 0; n <= 16; n++) {
          for (let spot = 0; spot <= n; spot++) {
            const start = { spot, onDemand: n - spot };
            let now: TypeCounts = start;
            for (let k = 1; k <= 24; k++) {
              now = grow(numbers, now, 1);
              if (now.spot !== spotAfterGrowth(numbers, start, k))
                wrong.push(`p=${p} m=${m} n=${n} s=${spot} k=${k}`);
            }
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('heads for the best reachable mix from any start (L3)', () => {
    fc.assert(
      fc.property(policyNumbers, fc.nat(300), fc.nat(300), fc.nat(300), (numbers, spot, onDemand, more) => {
        const start = { spot, onDemand };
        expect(grow(numbers, start, more).spot).toBe(spotAfterGrowth(numbers, start, more));
      }),
      propertyRuns,
    );
  });
});

describe('beside pods of which nobody knows the type', () => {
  const start = fc.record({
    spot: fc.nat(60),
    onDemand: fc.nat(60),
    untyped: fc.integer({ min: 1, max: 60 }),
  });

  it('the next pods fill the floor from those that are certain, and count all', () => {
    fc.assert(
      fc.property(policyNumbers, start, fc.nat(120), (numbers, { spot, onDemand, untyped }, more) => {
        let counts = { spot, onDemand, untyped };
        for (let i = 0; i < more; i++) {
          const type = typeForNext(numbers, counts);
          counts =
            type === 'spot'
              ? { ...counts, spot: counts.spot + 1 }
              : { ...counts, onDemand: counts.onDemand + 1 };
        }
        const size = spot + onDemand + untyped + more;
        const floor = Math.min(numbers.minOnDemand, onDemand + more);
        expect(counts.onDemand).toBeGreaterThanOrEqual(floor);
        if (counts.spot > spot) expect(counts.spot).toBeLessThanOrEqual(targetSpot(numbers, size));
        // Beyond the floor on-demand gets only what the share leaves to it.
        if (counts.onDemand > Math.max(onDemand, numbers.minOnDemand)) {
          expect(counts.spot).toBeGreaterThanOrEqual(targetSpot(numbers, size));
        }
      }),
      propertyRuns,
    );
  });
});

describe('decisions on a ledger that is behind', () => {
  /**
   * The ledger holds `stale` entries whose pods are gone. Creations are decided on it until it believes the
   * ReplicaSet is full; then one exact list corrects it and the rest are decided on the truth.
   */
  it('end exact when one list happens once the ledger looks full (L6)', () => {
    const cases = fc.record({
      numbers: policyNumbers,
      ledgerSize: fc.nat(60),
      extra: fc.nat(60),
      staleSpot: fc.nat(60),
      staleOnDemand: fc.nat(60),
    });
    fc.assert(
      fc.property(cases, ({ numbers, ledgerSize, extra, ...stale }) => {
        const replicas = ledgerSize + extra;
        let ledger: TypeCounts = {
          spot: targetSpot(numbers, ledgerSize),
          onDemand: ledgerSize - targetSpot(numbers, ledgerSize),
        };
        let truth: TypeCounts = {
          spot: ledger.spot - Math.min(stale.staleSpot, ledger.spot),
          onDemand: ledger.onDemand - Math.min(stale.staleOnDemand, ledger.onDemand),
        };
        while (truth.spot + truth.onDemand < replicas) {
          if (ledger.spot + ledger.onDemand >= replicas) ledger = truth;
          const spot = typeForNext(numbers, ledger) === 'spot' ? 1 : 0;
          ledger = { spot: ledger.spot + spot, onDemand: ledger.onDemand + 1 - spot };
          truth = { spot: truth.spot + spot, onDemand: truth.onDemand + 1 - spot };
        }
        expect(truth.spot).toBe(targetSpot(numbers, replicas));
      }),
      propertyRuns,
    );
  });

  it('repair a drift when all surplus pods go at once, in every small case (L7)', () => {
    const wrong: string[] = [];
    for (let p = 0; p <= 100; p++) {
      for (const m of [0, 1, 2, 3, 5, 8]) {
        for (let n = 1; n <= 40; n++) {
          for (let spot = 0; spot <= n; spot++) {
            const counts = { spot, onDemand: n - spot };
            if (repairOnStaleLedger(policy(p, m), counts) !== targetSpot(policy(p, m), n)) {
              wrong.push(`p=${p} m=${m} n=${n} s=${spot}`);
            }
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('repair a drift when all surplus pods go at once (L7)', () => {
    fc.assert(
      fc.property(policyNumbers, fc.nat(400), fc.nat(400), (numbers, spot, onDemand) => {
        expect(repairOnStaleLedger(numbers, { spot, onDemand })).toBe(targetSpot(numbers, spot + onDemand));
      }),
      propertyRuns,
    );
  });
});
