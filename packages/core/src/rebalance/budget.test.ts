import { describe, expect, it } from '@jest/globals';
import { deploymentOf, NOON, podsOf, policy, settings, snapshot } from '../testing/rebalance.ts';
import { nodeHasBudget } from './budget.ts';
import { decide } from './decide.ts';

describe('the budget of a node', () => {
  it('is spent by one move from it, and burdens no pod without a node', () => {
    const use = { workload: 0, nodes: new Map([['a', 1]]) };
    expect(['a', 'b', null].map((node) => nodeHasBudget(use, settings, node))).toEqual([false, true, true]);
  });

  it('of zero allows nothing', () => {
    const pods = podsOf(8, 2, { spotPercentage: 70, minOnDemand: 1 });
    const held = snapshot({
      pods,
      policy: policy(70, 1),
      workload: deploymentOf(pods),
      settings: { ...settings, maxInFlight: { ...settings.maxInFlight, node: 0 } },
    });
    expect(decide(held, NOON)).toMatchObject({ reason: 'BudgetSpent', facts: { budget: 'node' } });
  });
});
