import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../testing/arbitraries.ts';
import { type Paced, ResizePace } from './pace.ts';

interface Item extends Paced {
  readonly id: number;
}

const item = (module: Item['module'], purpose: Item['purpose'], id = 0): Item => ({ module, purpose, id });

/** Everybody who may go now. */
function taken(pace: ResizePace<Item>, nowMs: number): Item[] {
  const items: Item[] = [];
  for (let next = pace.next(nowMs); next !== undefined && 'item' in next; next = pace.next(nowMs))
    items.push(next.item);
  return items;
}

const allocation = (purpose: Item['purpose'], count: number) =>
  Array.from({ length: count }, (_, id) => item('allocation', purpose, id));

function paceOf(items: readonly Item[]): ResizePace<Item> {
  const pace = new ResizePace<Item>();
  for (const one of items) pace.add(one);
  return pace;
}

describe('the pace of resizes', () => {
  it('is 50 at once and 10 a second after that', () => {
    const pace = paceOf(allocation('size', 100));
    expect(taken(pace, 0)).toHaveLength(50);
    expect(pace.next(0)).toEqual({ atMs: 100 });
    expect(taken(pace, 1_000)).toHaveLength(10);
    expect(taken(pace, 100_000)).toHaveLength(40);
    expect(pace.next(100_000)).toBeUndefined();
  });

  it('lets what gives back go first, then raises after an OOM kill, then the rest as it came', () => {
    const items = [
      item('allocation', 'size', 1),
      item('allocation', 'outOfMemory', 2),
      item('allocation', 'size', 3),
      item('allocation', 'restore', 4),
    ];
    expect(taken(paceOf(items), 0).map(({ id }) => id)).toEqual([4, 2, 1, 3]);
  });

  it('gives right-sizing 3 of 10 while others have more urgent things to do', () => {
    const pace = paceOf([
      ...allocation('restore', 100),
      ...Array<Item>(20).fill(item('rightsizing', 'size')),
    ]);
    for (let id = 0; id < 20; id++) pace.add(item('rightsizing', 'size', id));
    const modules = taken(pace, 0).map(({ module }) => module);
    for (let start = 0; start + 10 <= 50; start += 10) {
      const ten = modules.slice(start, start + 10);
      expect(ten.filter((module) => module === 'rightsizing')).toHaveLength(3);
    }
  });

  it('forgets who does not want to go any more', () => {
    const [one, other] = [item('rightsizing', 'size', 1), item('rightsizing', 'size', 2)];
    const pace = paceOf([one, other]);
    pace.remove(one);
    expect(taken(pace, 0)).toEqual([other]);
  });

  it('is never exceeded, and never idle while somebody waits and a turn is free', () => {
    const arrivals = fc.array(
      fc.record({
        afterMs: fc.nat(400),
        count: fc.nat(30),
        module: fc.constantFrom('rightsizing' as const, 'allocation' as const),
        purpose: fc.constantFrom('restore' as const, 'outOfMemory' as const, 'size' as const),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(arrivals, (all) => {
        const pace = new ResizePace<Item>();
        const went: number[] = [];
        let nowMs = 0;
        let id = 0;
        for (const { afterMs, count, module, purpose } of all) {
          nowMs += afterMs;
          for (let i = 0; i < count; i++) pace.add({ module, purpose, id: id++ });
          for (const _ of taken(pace, nowMs)) went.push(nowMs);
          for (const sinceMs of new Set(went)) {
            const begun = went.filter((atMs) => atMs >= sinceMs).length;
            expect(begun).toBeLessThanOrEqual(50 + (nowMs - sinceMs) / 100 + 1e-6);
          }
          const next = pace.next(nowMs);
          if (next === undefined) expect(pace.size).toBe(0);
          else expect('atMs' in next && next.atMs > nowMs && next.atMs <= nowMs + 100).toBe(true);
        }
      }),
      propertyRuns,
    );
  });
});
