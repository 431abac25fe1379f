import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../../testing/arbitraries.ts';
import { HOUR_MS, MiB, NOON_MS, usageWith } from '../../testing/usage.ts';
import { noPeaks, peakOf, withPeak } from './daily.ts';
import { percentileOf } from './percentile.ts';
import { decodePoint, encodePoint } from './point.ts';
import { gridOf, pointAt, Ring } from './ring.ts';
import { aggregationFor, ownUsage, usageOf } from './usage.ts';

const MINUTE_MS = 60_000;
const grids = fc
  .tuple(fc.integer({ min: 1, max: 15 }), fc.integer({ min: 1, max: 400 }))
  .map(([minutes, points]) => gridOf(minutes * points * MINUTE_MS, minutes * MINUTE_MS));

/** Amounts by the number of their point: with gaps, and longer than a window. */
const series = fc.uniqueArray(
  fc.tuple(fc.nat(900), fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 1e5, noNaN: true }))),
  { selector: ([point]) => point, minLength: 1, maxLength: 600 },
);
const inOrder = (points: readonly (readonly [number, number])[]) =>
  points.toSorted(([one], [other]) => one - other);
const numeric = (values: readonly number[]) => values.toSorted((one, other) => one - other);

function filled(grid: ReturnType<typeof gridOf>, points: readonly (readonly [number, number])[]): Ring {
  const ring = new Ring('cpu', grid);
  for (const [point, amount] of points) ring.put(point, amount);
  return ring;
}

describe('a point', () => {
  it('is off by a quarter of a percent at most', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 1e6, noNaN: true }), (amount) => {
        expect(Math.abs(decodePoint('cpu', encodePoint('cpu', amount)) / amount - 1)).toBeLessThan(0.00251);
      }),
      propertyRuns,
    );
  });

  it('is idle where there is nothing, and never missing', () => {
    for (const amount of [0, -1, Number.NaN]) expect(decodePoint('cpu', encodePoint('cpu', amount))).toBe(0);
    expect(encodePoint('memory', Number.MAX_VALUE)).toBeLessThan(0xff_ff);
  });
});

describe('a ring', () => {
  it('Property 12: has exactly the points of the window, whatever window and resolution', () => {
    fc.assert(
      fc.property(grids, series, (grid, unordered) => {
        const points = inOrder(unordered);
        const ring = filled(grid, points);
        const latest = points.at(-1)?.[0] ?? 0;
        const inside = points.filter(([point]) => point > latest - grid.size).map(([, amount]) => amount);
        const exact = numeric(inside);
        const found = ring.ascending(latest);
        expect(found.length).toBe(exact.length);
        for (const [index, amount] of exact.entries())
          expect(Math.abs((found[index] ?? Number.NaN) - amount)).toBeLessThanOrEqual(
            amount * 0.00251 + 1e-9,
          );
      }),
      { numRuns: 200 },
    );
  });

  it('Property 13: has ascending percentiles, as an exact sort has them', () => {
    fc.assert(
      fc.property(grids, series, (grid, unordered) => {
        const points = inOrder(unordered);
        const latest = points.at(-1)?.[0] ?? 0;
        const exact = numeric(
          points.filter(([point]) => point > latest - grid.size).map(([, amount]) => amount),
        );
        const found = filled(grid, points).ascending(latest);
        let below = 0;
        for (const share of [0.5, 0.9, 0.99]) {
          const percentile = percentileOf(found, share);
          const wanted = percentileOf(exact, share);
          expect(Math.abs(percentile - wanted)).toBeLessThanOrEqual(wanted * 0.00251 + 1e-9);
          expect(percentile).toBeGreaterThanOrEqual(below);
          below = percentile;
        }
      }),
      { numRuns: 200 },
    );
  });

  it('comes back from its bytes, and from patches of older ones', () => {
    fc.assert(
      fc.property(grids, series, fc.nat(600), (grid, unordered, cut) => {
        const points = inOrder(unordered);
        const before = filled(grid, points.slice(0, cut));
        const ring = filled(grid, points);
        const stored = before.encode();
        for (const { offset, bytes } of ring.patchesSince(before.latest ?? -1)) stored.set(bytes, offset);
        // Points of before that are out of the window by now are gone as well.
        const again = Ring.decode('cpu', grid, stored);
        const latest = ring.latest ?? 0;
        expect(again?.ascending(latest)).toEqual(ring.ascending(latest));
        expect(again?.historySinceMs).toBe(ring.historySinceMs);
        expect(Ring.decode('cpu', grid, ring.encode())?.encode()).toEqual(ring.encode());
      }),
      { numRuns: 200 },
    );
  });

  it('is none of another grid, or of other bytes', () => {
    const grid = gridOf(24 * HOUR_MS, 5 * MINUTE_MS);
    const bytes = filled(grid, [[3, 1]]).encode();
    expect(bytes.length).toBe(592);
    expect(Ring.decode('cpu', { ...grid, pointMs: 60_000 }, bytes)).toBeNull();
    expect(Ring.decode('cpu', grid, bytes.slice(2))).toBeNull();
    expect(Ring.decode('cpu', grid, new Uint8Array(592))).toBeNull();
  });

  it('counts history from the end of a gap of more than half a window', () => {
    const grid = gridOf(10 * MINUTE_MS, MINUTE_MS);
    const ring = filled(grid, [
      [0, 1],
      [1, 1],
      [7, 1],
    ]);
    expect(ring.historySinceMs).toBe(0);
    ring.put(14, 1);
    expect(ring.historySinceMs).toBe(14 * MINUTE_MS);
  });

  it('has at most 2016 points', () => {
    expect(gridOf(24 * HOUR_MS, 5 * MINUTE_MS)).toEqual({ pointMs: 300_000, size: 288 });
    expect(gridOf(90 * 24 * HOUR_MS, MINUTE_MS).size).toBeLessThanOrEqual(2016);
  });
});

describe('the usage of a container', () => {
  const grid = gridOf(24 * HOUR_MS, 5 * MINUTE_MS);
  const now = pointAt(grid, NOON_MS);
  const rings = (cpu: (back: number) => number, points = 288) => {
    const both = { cpu: new Ring('cpu', grid), memory: new Ring('memory', grid) };
    for (let back = points; back > 0; back--) {
      both.cpu.put(now - back, cpu(back));
      both.memory.put(now - back, 100 * MiB);
    }
    return both;
  };

  it('Property 11: has CPU and memory, samples in minutes, and how long it is known', () => {
    const usage = usageOf([rings(() => 100)], null, NOON_MS);
    expect(usage?.cpu.P90).toBeCloseTo(100, -1);
    expect(usage).toMatchObject({ samples: 287 * 5, atMs: NOON_MS, surge: null });
    expect(usage?.memoryPeak).toBeCloseTo(100 * MiB, -6);
    expect(usage?.spanMs).toBe(288 * 5 * MINUTE_MS);
  });

  it('is none when the newest point is too old', () => {
    const old = rings(() => 100);
    expect(usageOf([old], null, NOON_MS + 10 * MINUTE_MS)).not.toBeNull();
    expect(usageOf([old], null, NOON_MS + 11 * MINUTE_MS)).toBeNull();
    expect(usageOf([], null, NOON_MS)).toBeNull();
  });

  it('N7: pooled, has the points of all pods', () => {
    const usage = usageOf(
      [rings(() => 100), ...Array.from({ length: 9 }, () => rings(() => 10))],
      null,
      NOON_MS,
    );
    expect(usage?.cpu.P50).toBeCloseTo(10, 0);
    expect(usage?.cpu.P99).toBeGreaterThan(90);
  });

  it('follows a surge over its own window', () => {
    const usage = usageOf([rings((back) => (back <= 6 ? 1000 : 100))], 30 * MINUTE_MS, NOON_MS);
    expect(usage?.surge).toBeGreaterThan(900);
    expect(usage?.cpu.P90).toBeLessThan(110);
  });
});

describe('the own usage of a pod', () => {
  const percentile = { cpu: 'P90', memory: 'P90' } as const;
  const own = usageWith();

  it('N7: is that of its highest day of seven, so that a leader that moves back is covered', () => {
    const daily = { cpu: [10, 900, 20, 20, 20, 20, 20, 5000], memory: [] };
    expect(ownUsage(own, daily, percentile)?.cpu).toEqual({ ...own.cpu, P90: 900 });
    expect(ownUsage(own, { cpu: [10], memory: [] }, percentile)).toEqual(own);
  });

  it('counts from a day of history on', () => {
    for (const spanMs of [null, 23 * HOUR_MS])
      expect(ownUsage({ ...own, spanMs }, { cpu: [], memory: [] }, percentile)).toBeNull();
    expect(ownUsage(null, { cpu: [], memory: [] }, percentile)).toBeNull();
  });

  it('is what Auto goes by where pods keep a name or a node', () => {
    const of = (kind: string) => aggregationFor('Auto', kind);
    expect(['Deployment', 'StatefulSet', 'DaemonSet'].map(of)).toEqual(['Max', 'PerPod', 'PerPod']);
    expect(aggregationFor('Pooled', 'StatefulSet')).toBe('Pooled');
  });
});

describe('daily peaks', () => {
  it('keep 14 days, also of days of which nothing is known', () => {
    const first = withPeak(noPeaks, 500, NOON_MS);
    const third = withPeak(first, 100, NOON_MS + 48 * HOUR_MS);
    expect(third.peaks.slice(0, 3)).toEqual([100, 0, 500]);
    expect([peakOf(third, 2), peakOf(third, 3)]).toEqual([100, 500]);
    expect(peakOf(withPeak(third, 1, NOON_MS + 20 * 24 * HOUR_MS), 14)).toBe(1);
  });
});
