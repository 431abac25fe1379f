import { describe, expect, it } from '@jest/globals';
import { Bypass } from './bypass.ts';

function after(...steered: boolean[]): Bypass {
  const bypass = new Bypass();
  for (const [index, one] of steered.entries()) bypass.arrived(one, index);
  return bypass;
}

describe('a webhook that is passed by', () => {
  it('is noticed at the third replacement in a row that it has not seen', () => {
    expect(after(false, false, true, false, false).state).toBeUndefined();
    expect(after(false, false, false).state).toEqual({ kind: 'bypassed', lastTrialAtMs: 2 });
  });

  it('never costs more than three pods, however many move at once', () => {
    expect([0, 1, 2, 3].map((unproven) => after().allows(unproven))).toEqual([true, true, true, false]);
    expect([0, 1, 2].map((unproven) => after(false).allows(unproven))).toEqual([true, true, false]);
  });

  it('is tried with one move at a time, and is forgotten when that one is seen', () => {
    const bypass = after(false, false, false);
    expect(bypass.allows(0)).toBe(true);
    bypass.tried(600_002);
    expect(bypass.allows(1)).toBe(false);
    expect(bypass.state).toEqual({ kind: 'bypassed', lastTrialAtMs: 600_002 });
    expect(bypass.arrived(false, 600_003)).toBe(false);
    expect(bypass.arrived(true, 1_200_000)).toBe(true);
    expect(bypass.state).toBeUndefined();
  });

  it('is tried again as soon as a pod came through it, but not before half a minute is over', () => {
    const bypass = after(false, false, false);
    expect(bypass.cameThrough(30_001)).toBe(false);
    expect(bypass.cameThrough(30_002)).toBe(true);
    expect(bypass.state).toEqual({ kind: 'bypassed', lastTrialAtMs: 0 });
    expect(bypass.cameThrough(30_003)).toBe(false);
    bypass.tried(40_000);
    expect(bypass.cameThrough(69_999)).toBe(false);
    expect(bypass.cameThrough(70_000)).toBe(true);
  });

  it('is not tried for pods that come through as they should', () => {
    expect(after(false, false).cameThrough(1_000_000)).toBe(false);
  });
});
