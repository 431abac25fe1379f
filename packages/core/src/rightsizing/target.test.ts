import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../testing/arbitraries.ts';
import { HOUR_MS, MiB, NOON_MS, sizings, sizingWith, usages, usageWith } from '../testing/usage.ts';
import { recommend } from './recommend.ts';
import { withRecent } from './stabilization.ts';
import { requestFor, type RequestQuestion } from './target.ts';

const question = (more: Partial<RequestQuestion> = {}): RequestQuestion => ({
  resource: 'cpu',
  before: 1000,
  usage: usageWith(),
  recentPeak: 0,
  evictionFloor: null,
  autoscaler: null,
  limitRanges: [],
  largestNode: null,
  limit: null,
  templateSinceMs: null,
  recent: null,
  ...more,
});
const memory = (more: Partial<RequestQuestion> = {}) =>
  question({ resource: 'memory', before: 1024 * MiB, ...more });
const ask = (of: RequestQuestion, sizing = sizingWith()) => requestFor(of, sizing, NOON_MS);

const resources = fc.constantFrom('cpu', 'memory');
const questions: fc.Arbitrary<RequestQuestion> = resources.chain((resource) =>
  fc.record({
    resource: fc.constant(resource),
    before: fc.integer({ min: 1, max: resource === 'cpu' ? 8000 : 8000 * MiB }),
    usage: fc.option(usages, { nil: null, freq: 9 }),
    recentPeak: fc.nat(8000 * MiB),
    evictionFloor: fc.option(fc.nat(8000 * MiB), { nil: null }),
    autoscaler: fc.constantFrom(null, null, null, null, 'HPAOnCPU' as const, 'ManagedByVpa' as const),
    limitRanges: fc.constant([]),
    largestNode: fc.constant(null),
    limit: fc.constant(null),
    templateSinceMs: fc.option(
      fc.nat(48).map((hours) => NOON_MS - hours * HOUR_MS),
      { nil: null },
    ),
    recent: fc.constant(null),
  }),
);

describe('a recommendation', () => {
  it('Property 4: is never outside of the bounds', () => {
    fc.assert(
      fc.property(usages, sizings, resources, (usage, sizing, resource) => {
        const { amount } = recommend(resource, usage, sizing);
        expect(amount).toBeGreaterThanOrEqual(sizing.bounds[resource].min);
        expect(amount).toBeLessThanOrEqual(sizing.bounds[resource].max);
      }),
      propertyRuns,
    );
  });

  it('Property 14: is the percentile of the policy times its factor, without a fraction', () => {
    fc.assert(
      fc.property(usages, sizings, resources, (usage, sizing, resource) => {
        const { amount } = recommend(resource, usage, sizing);
        const raw = Math.trunc(usage[resource][sizing.percentile[resource]] * sizing.factor[resource]);
        const { min, max } = sizing.bounds[resource];
        expect(amount).toBe(raw < min ? min : raw > max ? max : raw);
      }),
      propertyRuns,
    );
  });
});

describe('a target', () => {
  it('Property 2: with percentiles alone is the recommendation, unless the change is too small', () => {
    fc.assert(
      fc.property(questions, usages, (of, usage) => {
        const bare = { ...usage, samples: 60, spanMs: null, memoryPeak: null, surge: null };
        const sizing = sizingWith({ updateStrategy: { changeThreshold: { increasePercent: 0 } } });
        const { target, reason, recommendation } = ask(
          { ...of, usage: bare, recentPeak: 0, evictionFloor: null, autoscaler: null, templateSinceMs: null },
          sizing,
        );
        if (reason === 'WithinThreshold') expect(target).toBe(of.before);
        else expect(target).toBe(recommendation?.amount);
      }),
      propertyRuns,
    );
  });

  it('Property 7: does not change without usage', () => {
    fc.assert(
      fc.property(questions, sizings, (of, sizing) => {
        const { target, reason } = ask({ ...of, usage: null }, sizing);
        expect({ target, reason }).toEqual({ target: of.before, reason: 'MissingMetrics' });
      }),
      { numRuns: 100 },
    );
    const broken = usageWith({ cpu: { P50: Number.NaN, P90: Number.NaN, P99: Number.NaN } });
    expect(ask(question({ usage: broken }))).toMatchObject({ target: 1000, reason: 'MissingMetrics' });
  });

  it('Property 5: of memory never falls below the peak, unless the bounds say so', () => {
    fc.assert(
      fc.property(questions, sizings, (of, sizing) => {
        const asked = { ...of, resource: 'memory' as const };
        const { target, wanted, before } = ask(asked, { ...sizing, stabilizationMs: 0 });
        if (target === null || before === null || target >= before || wanted === null) return;
        const peak = Math.max(of.usage?.memoryPeak ?? 0, of.recentPeak);
        expect(target).toBeGreaterThanOrEqual(Math.min(before, Math.ceil(peak), sizing.bounds.memory.max));
      }),
      propertyRuns,
    );
  });

  it('Property 24: that stays has a reason, and one that moves says which way', () => {
    fc.assert(
      fc.property(questions, sizings, (of, sizing) => {
        const { target, before, reason } = ask(of, sizing);
        if (target === before) expect(['Increased', 'Decreased']).not.toContain(reason);
        else expect(reason).toBe((target ?? 0) > (before ?? 0) ? 'Increased' : 'Decreased');
      }),
      propertyRuns,
    );
  });

  it('N1: never falls while history is short, or the template is new', () => {
    fc.assert(
      fc.property(questions, fc.nat(23), fc.boolean(), (of, hours, isNew) => {
        const sizing = sizingWith();
        const usage = of.usage && { ...of.usage, spanMs: isNew ? 48 * HOUR_MS : hours * HOUR_MS };
        const templateSinceMs = isNew ? NOON_MS - hours * HOUR_MS : null;
        const { target } = ask({ ...of, usage, templateSinceMs }, sizing);
        expect(target).toBeGreaterThanOrEqual(of.before ?? 0);
      }),
      propertyRuns,
    );
  });

  it('N2: that moves is within the bounds and the largest node, whatever guards there are', () => {
    fc.assert(
      fc.property(questions, sizings, fc.integer({ min: 1, max: 6000 }), (of, sizing, node) => {
        const largestNode = of.resource === 'cpu' ? node : node * MiB;
        const { target, before } = ask({ ...of, largestNode }, { ...sizing, stabilizationMs: 0 });
        if (target === before || target === null) return;
        const { min, max } = sizing.bounds[of.resource];
        expect(target).toBeGreaterThanOrEqual(Math.min(min, largestNode));
        expect(target).toBeLessThanOrEqual(Math.min(max, largestNode));
      }),
      propertyRuns,
    );
  });

  it('N3: does not move again on noise within the threshold', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 3000 }),
        fc.array(fc.integer({ min: -4, max: 4 })),
        (p90, noise) => {
          const sizing = sizingWith();
          const usageAt = (percent: number) => {
            const P90 = p90 * (1 + percent / 100);
            return usageWith({ cpu: { P50: P90, P90, P99: P90 } });
          };
          const settled = ask(question({ before: 50, usage: usageAt(0) }), sizing).target;
          for (const percent of noise) {
            const { target } = ask(question({ before: settled, usage: usageAt(percent) }), sizing);
            expect(target).toBe(settled);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each([
    ['HPAOnCPU', { autoscaler: 'HPAOnCPU' as const }, 1000],
    ['ManagedByVpa', { autoscaler: 'ManagedByVpa' as const }, 1000],
    ['NoRequest', { before: null }, null],
    ['InsufficientData', { usage: usageWith({ samples: 29 }) }, 1000],
    ['LowHistory', { usage: usageWith({ spanMs: HOUR_MS }) }, 1000],
    ['Decreased', { usage: usageWith({ spanMs: null }) }, 480],
    ['Decreased', {}, 480],
    ['Increased', { before: 400 }, 480],
    ['WithinThreshold', { before: 450 }, 450],
    ['WithinThreshold', { before: 590 }, 590],
    ['BelowLimit', { before: 400, limit: 300 }, 300],
  ] as const)('has the reason %s', (reason, more, target) => {
    expect(ask(question(more))).toMatchObject({ reason, target });
  });

  it('is held at the peak, by an eviction, and by a LimitRange, in this order', () => {
    const of = memory({ recentPeak: 500 * MiB, evictionFloor: 450 * MiB });
    const item = { type: 'Container', min: { memory: 600 * MiB }, max: {} } as const;
    const limitRanges = [{ ...item, default: {}, defaultRequest: {}, maxLimitRequestRatio: {} }];
    const { guards, target } = ask({ ...of, limitRanges });
    expect(guards.map(({ reason, to }) => [reason, to / MiB])).toEqual([
      ['EvictionFloor', 450],
      ['HeldAtPeak', 500],
      ['LimitRangeBounds', 600],
    ]);
    expect(target).toBe(600 * MiB);
  });

  it('waits for the schedule to fall, and not to rise', () => {
    const sizing = sizingWith({ updateStrategy: { schedule: '0 22 * * *', duration: '4h' } });
    expect(ask(question(), sizing)).toMatchObject({ reason: 'ScheduleClosed', target: 1000 });
    expect(requestFor(question(), sizing, NOON_MS + 11 * HOUR_MS)).toMatchObject({ reason: 'Decreased' });
    expect(ask(question({ before: 100 }), sizing)).toMatchObject({ reason: 'Increased' });
  });

  it('falls to the highest of the stabilization, and only when all of it is known', () => {
    const sizing = sizingWith({ updateStrategy: { decreaseStabilization: '6h' } });
    const at = (hours: number) => NOON_MS - hours * HOUR_MS;
    const short = withRecent(null, 600, 6 * HOUR_MS, at(5));
    expect(ask(question({ recent: short }), sizing)).toMatchObject({ reason: 'Stabilizing', target: 1000 });
    const long = withRecent(withRecent(null, 900, 6 * HOUR_MS, at(7)), 600, 6 * HOUR_MS, at(5));
    expect(ask(question({ recent: long }), sizing)).toMatchObject({ reason: 'Decreased', target: 600 });
  });
});
