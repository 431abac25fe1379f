import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../testing/arbitraries.ts';
import { deploymentOf, NOON, podsOf, policy, settings, snapshot } from '../testing/rebalance.ts';
import { nodeHasBudget, spentBudget } from './budget.ts';
import { decide } from './decide.ts';
import type { BudgetUse } from './snapshot.ts';

const none: BudgetUse = { cluster: 0, namespace: 0, workload: 0, nodes: new Map(), begunAtMs: [] };
const limits = { maxInFlight: { cluster: 20, namespace: 5, node: 1, workload: 1 }, maxMovesPerMinute: 3 };

describe('a budget', () => {
  it.each([
    ['cluster', { cluster: 20 }, 20],
    ['namespace', { namespace: 5 }, 5],
    ['workload', { workload: 1 }, 1],
  ] as const)('of a %s is spent at its limit', (budget, use, limit) => {
    expect(spentBudget({ ...none, ...use }, limits, NOON)).toEqual({
      reason: 'BudgetSpent',
      facts: { budget, used: limit, limit },
      verdict: { kind: 'wait', untilMs: NOON + 5_000 },
    });
    expect(spentBudget({ ...none, [budget]: limit - 1 }, limits, NOON)).toBeNull();
  });

  it('of the minute is free again a minute after the move that took its last place', () => {
    const begunAtMs = [NOON - 10_000, NOON - 50_000, NOON - 59_999, NOON - 60_000];
    const spent = spentBudget({ ...none, begunAtMs }, limits, NOON);
    expect(spent).toMatchObject({ facts: { budget: 'minute', used: 3 }, verdict: { untilMs: NOON + 1 } });
    expect(spentBudget({ ...none, begunAtMs }, limits, NOON + 1)).toBeNull();
  });

  it('of the minute tells the very time at which it opens', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(60_000), { maxLength: 9 }), (ages) => {
        const use = { ...none, begunAtMs: ages.map((age) => NOON - age) };
        const spent = spentBudget(use, limits, NOON);
        if (spent?.verdict.kind !== 'wait') return;
        expect(spentBudget(use, limits, spent.verdict.untilMs)).toBeNull();
        expect(spentBudget(use, limits, spent.verdict.untilMs - 1)).not.toBeNull();
      }),
      propertyRuns,
    );
  });

  it('of a node is spent by one move from it, and burdens no pod without a node', () => {
    const use = { ...none, nodes: new Map([['a', 1]]) };
    expect(nodeHasBudget(use, limits, 'a')).toBe(false);
    expect(nodeHasBudget(use, limits, 'b')).toBe(true);
    expect(nodeHasBudget(use, limits, null)).toBe(true);
  });

  it('of zero allows nothing', () => {
    const pods = podsOf(8, 2, { spotPercentage: 70, minOnDemand: 1 });
    for (const change of [
      { maxMovesPerMinute: 0 },
      { maxInFlight: { ...settings.maxInFlight, cluster: 0 } },
      { maxInFlight: { ...settings.maxInFlight, node: 0 } },
      { maxInFlight: { ...settings.maxInFlight, workload: 0 } },
    ]) {
      const held = snapshot({
        pods,
        policy: policy(70, 1),
        workload: deploymentOf(pods),
        settings: { ...settings, ...change },
      });
      expect(decide(held, NOON).reason).toBe('BudgetSpent');
    }
  });
});
