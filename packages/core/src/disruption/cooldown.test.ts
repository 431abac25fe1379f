import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../testing/arbitraries.ts';
import { deploymentOf, NOON, podsOf, policy, snapshot } from '../testing/rebalance.ts';
import { afterMove, cooldownEnd } from './cooldown.ts';
import { decide } from '../distribution/moves/decide.ts';

const away = { from: 'spot', to: 'on-demand', override: null } as const;

describe('the cooldown', () => {
  it('counts from the end of the move', () => {
    const history = afterMove(null, { ...away, outcome: 'succeeded' }, NOON);
    expect(cooldownEnd(history, 10_000)).toBe(NOON + 10_000);
  });

  it('doubles with each failed move up to half an hour, and starts over after one that worked', () => {
    let history = afterMove(null, { ...away, outcome: 'failed' }, NOON);
    const lengths: number[] = [];
    for (let failed = 0; failed < 10; failed++) {
      lengths.push((cooldownEnd(history, 10_000) - NOON) / 1_000);
      history = afterMove(history, { ...away, outcome: 'failed' }, NOON);
    }
    expect(lengths).toEqual([20, 40, 80, 160, 320, 640, 1280, 1800, 1800, 1800]);
    history = afterMove(history, { ...away, outcome: 'succeeded' }, NOON);
    expect(cooldownEnd(history, 10_000)).toBe(NOON + 10_000);
  });

  it('is never shorter than configured, and stays a number after any number of failures', () => {
    fc.assert(
      fc.property(fc.nat(7_200_000), fc.nat(100_000), (cooldownMs, failures) => {
        const length = cooldownEnd({ ...away, endedAtMs: 0, failures }, cooldownMs);
        expect(length).toBeGreaterThanOrEqual(cooldownMs);
        expect(length).toBeLessThanOrEqual(Math.max(cooldownMs, 1_800_000));
      }),
      propertyRuns,
    );
  });

  it('lets no move follow within it, neither back nor on, whatever the policy has become', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(3), fc.nat(9_999), (percentage, failures, sinceMs) => {
        const pods = podsOf(5, 5, { spotPercentage: 50, minOnDemand: 0 });
        const { verdict } = decide(
          snapshot({
            pods,
            policy: policy(percentage, 0),
            workload: deploymentOf(pods),
            history: { ...away, endedAtMs: NOON - sinceMs, failures },
          }),
          NOON,
        );
        expect(verdict.kind).not.toBe('move');
      }),
      propertyRuns,
    );
  });
});
