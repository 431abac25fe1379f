import { describe, expect, it } from '@jest/globals';
import { SharedDefaults } from './shared-defaults.ts';

const held = (): SharedDefaults => {
  const defaults = new SharedDefaults();
  defaults.arrived(false, 1_000, 1_000);
  return defaults;
};

describe('defaults that webhooks share with the leader', () => {
  it('are taken to be the same until a replacement shows others', () => {
    const defaults = new SharedDefaults();
    expect(defaults.state).toBeNull();
    expect(defaults.arrived(true, 1_000, 1_000)).toBeNull();
    expect(defaults.arrived(false, 1_000, 1_000)).toBe('held');
    expect(defaults.state).toEqual({ nextTrialAtMs: 61_000 });
    expect(defaults.arrived(false, 2_000, 2_000)).toBeNull();
    expect(defaults.state).toEqual({ nextTrialAtMs: 61_000 });
    expect(defaults.arrived(true, 3_000, 3_000)).toBe('free');
    expect(defaults.state).toBeNull();
  });

  it('are tried at once after a change here, and pods of before say nothing', () => {
    const defaults = new SharedDefaults();
    defaults.changed(10_000);
    expect(defaults.state).toEqual({ nextTrialAtMs: 0 });
    expect(defaults.arrived(true, 9_000, 11_000)).toBeNull();
    expect(defaults.state).not.toBeNull();
    expect(defaults.arrived(true, 10_000, 11_000)).toBe('free');
    expect(defaults.arrived(false, 9_000, 11_000)).toBeNull();
  });

  it('are tried ever more seldom while they differ, and never less than every ten minutes', () => {
    const defaults = held();
    const pauses = Array.from({ length: 6 }, (_, index) => {
      const nowMs = index * 1_000_000;
      defaults.tried(nowMs);
      return (defaults.state?.nextTrialAtMs ?? 0) - nowMs;
    });
    expect(pauses).toEqual([60_000, 120_000, 240_000, 480_000, 600_000, 600_000]);
  });

  it('are tried with another move at once when one was refused, unless more is known since', () => {
    const defaults = held();
    const refused = defaults.tried(61_000);
    expect(defaults.allows(61_000)).toBe(false);
    refused();
    expect(defaults.allows(61_000)).toBe(true);
    const late = defaults.tried(61_000);
    defaults.arrived(true, 62_000, 62_000);
    late();
    expect(defaults.state).toBeNull();
  });

  it('are tried again when a pod shows them, but not before half a minute is over', () => {
    const defaults = held();
    expect(defaults.cameThrough(30_999)).toBe(false);
    expect(defaults.cameThrough(31_000)).toBe(true);
    expect(defaults.state).toEqual({ nextTrialAtMs: 0 });
    expect(defaults.cameThrough(32_000)).toBe(false);
    defaults.tried(40_000);
    expect(defaults.cameThrough(69_999)).toBe(false);
    expect(defaults.cameThrough(70_000)).toBe(true);
    expect(new SharedDefaults().cameThrough(70_000)).toBe(false);
  });
});
