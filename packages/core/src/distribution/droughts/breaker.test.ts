import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../../testing/arbitraries.ts';
import { type Breaker, type DroughtLook, type Permit, type Step, stepBreaker } from './breaker.ts';
import { readBreaker, writeMemo } from './memo.ts';

const backoff = { initialMs: 60_000, maxMs: 240_000 };
const none: Permit = { permits: 0, takenAtMs: null };
const quiet: DroughtLook = {
  fallbackAfterMs: 120_000,
  waitingSinceMs: null,
  pending: 0,
  isHeld: false,
  scheduledAtMs: null,
  room: false,
  placeholder: 'none',
  lacking: 0,
  substitutesSinceMs: null,
  known: false,
  permitOnly: false,
  mayProbe: true,
};
const closed: Breaker = { state: 'closed' };
const open: Breaker = { state: 'open', sinceMs: 0, openedAtMs: 120_000, backoffMs: 60_000, early: true };
const halfOpen: Breaker = {
  state: 'half-open',
  sinceMs: 0,
  probedAtMs: 180_000,
  backoffMs: 60_000,
  proven: false,
};

const step = (breaker: Breaker, look: Partial<DroughtLook>, nowMs: number, permit = none): Step =>
  stepBreaker(breaker, permit, { ...quiet, ...look }, backoff, nowMs);

describe('a closed breaker', () => {
  it('opens when a pod has waited for the whole period, and not before', () => {
    expect(step(closed, { waitingSinceMs: 0, pending: 1 }, 119_999)).toMatchObject({
      change: null,
      againAtMs: 120_000,
    });
    expect(step(closed, { waitingSinceMs: 0, pending: 1 }, 120_000)).toMatchObject({
      change: 'opened',
      breaker: open,
    });
  });

  it('opens without the wait when others know already', () => {
    expect(step(closed, { waitingSinceMs: 0, known: true }, 1).change).toBe('opened');
  });

  it('gives a permit for the way back where admissions still hold the placement to be without capacity', () => {
    const back = { lacking: 2, room: true } as const;
    expect(step(closed, { ...back, permitOnly: true }, 1)).toMatchObject({
      change: 'half-opened',
      permits: 1,
      breaker: { state: 'half-open', proven: true },
    });
    expect(step(closed, back, 1).change).toBeNull();
  });

  it('never opens for those who want no substitutes, and one that was open closes', () => {
    const never = { fallbackAfterMs: 'never', waitingSinceMs: 0, pending: 1 } as const;
    expect(step(closed, never, 1e9)).toMatchObject({ change: null, againAtMs: null });
    expect(step(open, never, 1e9).change).toBe('waived');
  });

  it('is found open again by the substitutes, when the ledger has lost it', () => {
    expect(step(closed, { lacking: 3, substitutesSinceMs: 7 }, 1_000)).toMatchObject({
      change: 'rebuilt',
      breaker: { state: 'open', sinceMs: 7, early: true },
    });
    expect(step(closed, { lacking: 3, substitutesSinceMs: 7, room: true }, 1_000).change).toBeNull();
    expect(step(closed, { lacking: 0, substitutesSinceMs: 7 }, 1_000).change).toBeNull();
  });
});

describe('an open breaker', () => {
  it('is tried at once when a node has room that had none', () => {
    expect(step(open, { room: true, lacking: 3 }, 120_001)).toMatchObject({
      change: 'half-opened',
      permits: 1,
      breaker: { proven: true },
    });
  });

  it('waits out its time when it opened although there was room', () => {
    const late: Breaker = { ...open, early: false };
    expect(step(late, { room: true }, 179_999)).toMatchObject({ change: null, againAtMs: 180_000 });
    expect(step(late, { room: true }, 180_000).change).toBe('half-opened');
  });

  it('is tried by the next admission where nothing else can tell', () => {
    expect(step(open, {}, 180_000)).toMatchObject({
      change: 'half-opened',
      permits: 1,
      breaker: { proven: false },
    });
    expect(step(open, { mayProbe: false }, 180_000).change).toBeNull();
  });

  it('is left where others of its placement are to find out, and it lacks nothing', () => {
    expect(step(open, { permitOnly: true, lacking: 0 }, 179_999).change).toBeNull();
    expect(step(open, { permitOnly: true, lacking: 0, mayProbe: false }, 180_000)).toMatchObject({
      change: 'left',
      breaker: { state: 'closed' },
    });
    expect(step(open, { permitOnly: true, lacking: 1 }, 180_000).change).toBe('half-opened');
  });

  it('is tried later when not even a placeholder got a node', () => {
    expect(step(open, { placeholder: 'waiting' }, 1e9).change).toBeNull();
    expect(step(open, { placeholder: 'failed' }, 179_999).change).toBeNull();
    expect(step(open, { placeholder: 'failed' }, 300_000)).toMatchObject({
      change: 'postponed',
      breaker: { backoffMs: 120_000 },
    });
    expect(step(open, { placeholder: 'running' }, 180_000).change).toBe('half-opened');
  });

  it('stays so while pods that have to go are there', () => {
    expect(step(open, { waitingSinceMs: 0, room: true }, 1e9).change).toBeNull();
  });
});

describe('a half-open breaker', () => {
  it('opens again for longer, up to a limit, when the pod that was let through waits in vain', () => {
    const waits = { waitingSinceMs: 200_000, pending: 1 };
    expect(step(halfOpen, waits, 319_999)).toMatchObject({ change: null, againAtMs: 320_000 });
    const again = step(halfOpen, waits, 320_000);
    expect(again).toMatchObject({ change: 'reopened', breaker: { backoffMs: 120_000, early: false } });
    expect(step({ ...halfOpen, backoffMs: 200_000 }, waits, 320_000)).toMatchObject({
      breaker: { backoffMs: 240_000 },
    });
  });

  it('gives the permit again when nothing came of it', () => {
    const taken = { permits: 0, takenAtMs: 200_000 };
    expect(step(halfOpen, { lacking: 1 }, 379_999, taken)).toMatchObject({
      change: null,
      againAtMs: 380_000,
    });
    expect(step(halfOpen, { lacking: 1 }, 380_000, taken)).toMatchObject({ change: 'armed', permits: 1 });
  });

  it('waits for the pods that may yet show it, but not for ever', () => {
    const taken = { permits: 0, takenAtMs: 200_000 };
    const pending = { lacking: 1, pending: 1, room: true };
    expect(step(halfOpen, pending, 379_999, taken)).toMatchObject({ change: null, againAtMs: 380_000 });
    expect(step(halfOpen, pending, 380_000, taken)).toMatchObject({ change: 'armed', permits: 1 });
    const held = { ...pending, isHeld: true };
    expect(step(halfOpen, held, 380_000, taken)).toMatchObject({ change: null, againAtMs: null });
  });

  it('gives the next one at once when the pod got a node', () => {
    const taken = { permits: 0, takenAtMs: 200_900 };
    expect(step(halfOpen, { lacking: 1, scheduledAtMs: 200_000 }, 201_000, taken)).toMatchObject({
      change: 'armed',
      permits: 1,
      breaker: { proven: true },
    });
  });

  it('closes when no substitute is left and there was a sign of capacity', () => {
    const armed = { permits: 1, takenAtMs: null };
    expect(step(halfOpen, {}, 181_000, armed).change).toBeNull();
    expect(step(halfOpen, { room: true }, 181_000, armed).change).toBe('closed');
    expect(step({ ...halfOpen, proven: true }, { lacking: 1 }, 181_000, armed).change).toBeNull();
  });
});

const time = fc.integer({ min: 0, max: 1_000_000 });
const anyBreaker: fc.Arbitrary<Breaker> = fc.oneof(
  fc.constant(closed),
  fc.record({
    state: fc.constant('open' as const),
    sinceMs: time,
    openedAtMs: time,
    backoffMs: fc.constantFrom(60_000, 120_000, 240_000),
    early: fc.boolean(),
  }),
  fc.record({
    state: fc.constant('half-open' as const),
    sinceMs: time,
    probedAtMs: time,
    backoffMs: fc.constantFrom(60_000, 120_000, 240_000),
    proven: fc.boolean(),
  }),
);
const anyLook: fc.Arbitrary<DroughtLook> = fc.record({
  fallbackAfterMs: fc.constantFrom<number | 'never'>(0, 5_000, 120_000, 'never'),
  waitingSinceMs: fc.option(time),
  pending: fc.nat(3),
  isHeld: fc.boolean(),
  scheduledAtMs: fc.option(time),
  room: fc.boolean(),
  placeholder: fc.constantFrom('none' as const, 'waiting' as const, 'failed' as const, 'running' as const),
  lacking: fc.nat(3),
  substitutesSinceMs: fc.option(time),
  known: fc.boolean(),
  permitOnly: fc.boolean(),
  mayProbe: fc.boolean(),
});
const anyPermit: fc.Arbitrary<Permit> = fc.record({ permits: fc.nat(1), takenAtMs: fc.option(time) });

describe('any breaker', () => {
  it('waits for a time to come, has at most one permit, and only half-open', () => {
    fc.assert(
      fc.property(anyBreaker, anyPermit, anyLook, time, (breaker, permit, look, nowMs) => {
        const { againAtMs, permits, breaker: next } = stepBreaker(breaker, permit, look, backoff, nowMs);
        if (againAtMs !== null) expect(againAtMs).toBeGreaterThan(nowMs);
        expect(permits).toBeLessThanOrEqual(next.state === 'half-open' ? 1 : 0);
        if (next.state !== 'closed') expect(next.backoffMs).toBeLessThanOrEqual(backoff.maxMs);
      }),
      propertyRuns,
    );
  });

  it('is what it was after the ledger kept it', () => {
    fc.assert(
      fc.property(anyBreaker, (breaker) => {
        const record = { state: breaker.state, memo: writeMemo(breaker) };
        expect(readBreaker(record, 1, 2)).toEqual(breaker);
      }),
      propertyRuns,
    );
  });

  it('comes to rest while nothing else happens', () => {
    fc.assert(
      fc.property(anyBreaker, anyPermit, anyLook, time, (breaker, permit, look, nowMs) => {
        let now: Step = { breaker, permits: permit.permits, change: null, againAtMs: null };
        let steps = 0;
        do {
          const its = { permits: now.permits, takenAtMs: permit.takenAtMs };
          now = stepBreaker(now.breaker, its, look, backoff, nowMs);
        } while (now.change !== null && steps++ < 10);
        expect(steps).toBeLessThan(6);
      }),
      propertyRuns,
    );
  });
});

/** A workload that always lacks `wanted` spot pods of which some are substitutes, and a cloud that comes and goes. */
function play(
  script: readonly { readonly capacity: boolean; readonly seconds: number; readonly newPods: number }[],
) {
  const fallbackAfterMs = 10_000;
  const world = { nowMs: 0, spot: 0, stuck: [] as number[], substitutes: 0, waits: 0, probes: 0 };
  let breaker: Breaker = closed;
  let permit: Permit = none;
  const admit = (): 'spot' | 'substitute' => {
    if (breaker.state === 'closed') return 'spot';
    if (breaker.state === 'open' || permit.permits === 0) return 'substitute';
    permit = { permits: 0, takenAtMs: world.nowMs };
    world.probes++;
    return 'spot';
  };
  const create = (): void => {
    if (admit() === 'substitute') world.substitutes++;
    else world.stuck.push(world.nowMs);
  };
  for (const { capacity, seconds, newPods } of script) {
    for (let index = 0; index < newPods; index++) create();
    for (let second = 0; second < seconds; second++) {
      world.nowMs += 1_000;
      let scheduledAtMs: number | null = null;
      if (capacity) {
        for (const at of world.stuck.splice(0)) {
          world.spot++;
          scheduledAtMs = at;
        }
      }
      const look: DroughtLook = {
        ...quiet,
        fallbackAfterMs,
        waitingSinceMs: world.stuck.length === 0 ? null : Math.min(...world.stuck),
        pending: world.stuck.length,
        scheduledAtMs,
        room: capacity,
        lacking: world.substitutes,
        substitutesSinceMs: world.substitutes === 0 ? null : 0,
      };
      const next = stepBreaker(breaker, permit, look, backoff, world.nowMs);
      if (next.change === 'opened' || next.change === 'reopened') world.waits++;
      if (next.change !== null) {
        const takenAtMs = next.breaker.state === breaker.state ? permit.takenAtMs : null;
        permit = { permits: next.permits, takenAtMs };
      }
      breaker = next.breaker;
      if (breaker.state === 'open') for (const _ of world.stuck.splice(0)) create();
      // One substitute at a time is moved back, where there is room for it.
      const mayMove = breaker.state === 'closed' || (breaker.state === 'half-open' && permit.permits > 0);
      if (capacity && mayMove && world.substitutes > 0) {
        world.substitutes--;
        create();
      }
    }
  }
  return { ...world, breaker };
}

describe('droughts that come and go', () => {
  const scene = fc.record({
    capacity: fc.boolean(),
    seconds: fc.integer({ min: 1, max: 400 }),
    newPods: fc.nat(5),
  });

  it('end with every pod on spot, once there is capacity for good', () => {
    fc.assert(
      fc.property(fc.array(scene, { maxLength: 8 }), (scenes) => {
        const end = play([...scenes, { capacity: true, seconds: 600, newPods: 1 }]);
        expect(end.breaker.state).toBe('closed');
        expect(end.substitutes).toBe(0);
        expect(end.stuck).toEqual([]);
      }),
      propertyRuns,
    );
  });

  it('cost one waiting period, and one more for each attempt', () => {
    fc.assert(
      fc.property(fc.array(scene, { maxLength: 8 }), (scenes) => {
        const dry = scenes.map((one) => ({ ...one, capacity: false }));
        const { waits, probes } = play(dry);
        expect(waits).toBeLessThanOrEqual(1 + probes);
      }),
      propertyRuns,
    );
  });
});
