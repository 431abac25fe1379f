import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { HOUR_MS, MiB, NOON_MS, sizings, sizingWith } from '../testing/usage.ts';
import {
  capOf,
  cpuLimitFor,
  isGrowthSuspected,
  type LimitMemory,
  type LimitQuestion,
  memoryLimitFor,
  noLimitMemory,
} from './limit.ts';

const limits = (limitConfig: object = {}, more: object = {}) =>
  sizingWith({ updateStrategy: { updateRequestsOnly: false, limitConfig, ...more } });
const raiseOnly = limits();
const follow = limits({ mode: 'Follow' });

const question = (more: Partial<LimitQuestion> = {}): LimitQuestion => ({
  before: 1000 * MiB,
  template: 1000 * MiB,
  request: 500 * MiB,
  recentPeak: 0,
  longPeak: 0,
  oomAtMs: null,
  largestNode: null,
  cpuThirdHighest: null,
  lent: false,
  mayLower: true,
  remembered: noLimitMemory,
  ...more,
});

const questions: fc.Arbitrary<LimitQuestion> = fc
  .record({
    template: fc.integer({ min: 64, max: 8000 }),
    raised: fc.nat(4000),
    request: fc.nat(8000),
    recentPeak: fc.nat(12_000),
    oomHours: fc.option(fc.nat(48), { nil: null }),
    lent: fc.boolean(),
    mayLower: fc.boolean(),
  })
  .map(({ template, raised, request, recentPeak, oomHours, ...rest }) =>
    question({
      ...rest,
      template: template * MiB,
      before: (template + raised) * MiB,
      request: Math.min(request, template + raised) * MiB,
      recentPeak: recentPeak * MiB,
      longPeak: recentPeak * MiB,
      oomAtMs: oomHours === null ? null : NOON_MS - oomHours * HOUR_MS,
    }),
  );

describe('the limits of a container', () => {
  it('Property 3: stay while only requests may change, or with Keep', () => {
    fc.assert(
      fc.property(questions, (of) => {
        for (const sizing of [sizingWith(), limits({ mode: 'Keep' })]) {
          expect(memoryLimitFor(of, sizing, NOON_MS).limit).toBe(of.before);
          expect(cpuLimitFor(of, sizing, NOON_MS).limit).toBe(of.before);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('N6: with RaiseOnly never fall', () => {
    fc.assert(
      fc.property(questions, fc.nat(8000), (of, cpuThirdHighest) => {
        const { limit } = memoryLimitFor(of, raiseOnly, NOON_MS);
        expect(limit).toBeGreaterThanOrEqual(of.before ?? 0);
        const cpu = { ...of, before: 1000, template: 500, cpuThirdHighest };
        expect(cpuLimitFor(cpu, raiseOnly, NOON_MS).limit).toBeGreaterThanOrEqual(1000);
      }),
      { numRuns: 200 },
    );
  });

  it('N2: stop at the cap on the trace of a leak, and stay there', () => {
    fc.assert(
      fc.property(sizings, fc.integer({ min: 64, max: 4000 }), (of, template) => {
        const sizing = { ...of, limits: raiseOnly.limits };
        let remembered: LimitMemory = noLimitMemory;
        let before = template * MiB;
        const limitsSeen: number[] = [];
        for (let hour = 0; hour < 60; hour++) {
          const nowMs = NOON_MS + hour * HOUR_MS;
          const asked = question({ before, template: template * MiB, remembered, oomAtMs: nowMs });
          const trace = memoryLimitFor(asked, sizing, nowMs);
          before = trace.limit ?? 0;
          remembered = trace.memory;
          limitsSeen.push(before);
          expect(before).toBeLessThanOrEqual(capOf('memory', asked, sizing));
          // The same OOM does not count again.
          expect(memoryLimitFor({ ...asked, before, remembered }, sizing, nowMs).limit).toBe(before);
        }
        expect(limitsSeen.at(-1)).toBe(limitsSeen.at(-2));
      }),
      { numRuns: 100 },
    );
  });

  it('grow with the peak, and by an OOM at least by the bump', () => {
    expect(memoryLimitFor(question({ recentPeak: 900 * MiB }), raiseOnly, NOON_MS).reason).toBeNull();
    const near = memoryLimitFor(question({ recentPeak: 950 * MiB }), raiseOnly, NOON_MS);
    expect(near).toMatchObject({ reason: 'LimitRaised', limit: 1140 * MiB });
    const oom = memoryLimitFor(question({ oomAtMs: NOON_MS, before: 200 * MiB }), raiseOnly, NOON_MS);
    expect(oom).toMatchObject({ reason: 'OutOfMemory', limit: 300 * MiB, memory: { oom: { count: 1 } } });
  });

  it('say what would do at the cap, and where they are not ours', () => {
    const grown = limits({ maxGrowth: 1.1 });
    expect(memoryLimitFor(question({ oomAtMs: NOON_MS }), grown, NOON_MS)).toMatchObject({
      reason: 'GrowthCap',
      limit: 1100 * MiB,
      needed: 1200 * MiB,
    });
    expect(memoryLimitFor(question({ oomAtMs: NOON_MS }), sizingWith(), NOON_MS)).toMatchObject({
      reason: 'LimitTooLow',
      needed: 1200 * MiB,
    });
  });

  it('look like a leak after three raises while a floor stands', () => {
    const oom = { limit: 1, atMs: NOON_MS, untilMs: NOON_MS + HOUR_MS, count: 3 };
    expect(isGrowthSuspected({ ...noLimitMemory, oom }, NOON_MS)).toBe(true);
    expect(isGrowthSuspected({ ...noLimitMemory, oom }, NOON_MS + HOUR_MS)).toBe(false);
    expect(isGrowthSuspected({ ...noLimitMemory, oom: { ...oom, count: 2 } }, NOON_MS)).toBe(false);
  });

  it('of CPU rise where several points are near them, once an hour, and not while lent', () => {
    const of = question({ before: 1000, template: 1000, cpuThirdHighest: 960 });
    const raised = cpuLimitFor(of, raiseOnly, NOON_MS);
    expect(raised).toMatchObject({ reason: 'LimitRaised', limit: 1500 });
    const again = { ...of, before: 1500, cpuThirdHighest: 1500, remembered: raised.memory };
    expect(cpuLimitFor(again, raiseOnly, NOON_MS + HOUR_MS - 1).limit).toBe(1500);
    expect(cpuLimitFor(again, raiseOnly, NOON_MS + HOUR_MS).limit).toBe(2250);
    expect(cpuLimitFor({ ...of, cpuThirdHighest: 940 }, raiseOnly, NOON_MS).limit).toBe(1000);
    expect(cpuLimitFor({ ...of, lent: true }, raiseOnly, NOON_MS)).toMatchObject({
      reason: 'LimitOwnedByAllocation',
      limit: 1000,
    });
  });

  it('follow the request, but not below the long peak', () => {
    expect(memoryLimitFor(question(), follow, NOON_MS).limit).toBe(550 * MiB);
    expect(memoryLimitFor(question({ longPeak: 600 * MiB }), follow, NOON_MS).limit).toBe(720 * MiB);
    expect(memoryLimitFor(question({ mayLower: false }), follow, NOON_MS).limit).toBe(1000 * MiB);
  });

  it('are tried by canaries first, and go on after they were observed', () => {
    const tenth = limits({ mode: 'Follow' }, { rollout: { canaryPercent: 10 } });
    const tried = memoryLimitFor(question(), tenth, NOON_MS);
    expect(tried).toMatchObject({ limit: 1000 * MiB, memory: { canary: { limit: 550 * MiB } } });
    const next = question({ remembered: tried.memory });
    expect(memoryLimitFor(next, tenth, NOON_MS + 24 * HOUR_MS - 1).limit).toBe(1000 * MiB);
    expect(memoryLimitFor(next, tenth, NOON_MS + 24 * HOUR_MS)).toMatchObject({
      limit: 550 * MiB,
      memory: { canary: null },
    });
  });

  it('go back after an OOM, and wait twice as long each time', () => {
    let remembered: LimitMemory = noLimitMemory;
    let nowMs = NOON_MS;
    const holds: number[] = [];
    for (let round = 0; round < 6; round++) {
      // The floor of the last OOM would keep it from falling.
      const asked = question({ remembered: { ...remembered, oom: null } });
      const tried = memoryLimitFor(asked, follow, nowMs);
      expect(tried.limit).toBe(550 * MiB);
      nowMs += HOUR_MS;
      const died = question({ before: 550 * MiB, remembered: tried.memory, oomAtMs: nowMs });
      const reverted = memoryLimitFor(died, follow, nowMs);
      expect(reverted).toMatchObject({ reason: 'LimitReverted', limit: 1000 * MiB });
      holds.push((reverted.memory.heldUntilMs - nowMs) / HOUR_MS);
      remembered = { ...reverted.memory, oom: null };
      const held = question({ remembered });
      expect(memoryLimitFor(held, follow, nowMs)).toMatchObject({ reason: 'LimitHeld', limit: 1000 * MiB });
      nowMs = reverted.memory.heldUntilMs;
    }
    expect(holds).toEqual([6, 12, 24, 48, 96, 96]);
  });
});
