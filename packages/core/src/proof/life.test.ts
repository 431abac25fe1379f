import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { CapacityType } from '../capacity/type.ts';
import { propertyRuns } from '../testing/arbitraries.ts';
import {
  type LifeSnapshot,
  placeholderKey,
  type PlaceholderView,
  type PlaceholderWish,
  restAfter,
  tendPlaceholders,
} from './life.ts';

const NOW = 1_000_000;
const settings = { max: 3, waitMs: 300_000, ageMs: 900_000 };

const there = (workloadUid: string, change: Partial<PlaceholderView> = {}): PlaceholderView => ({
  name: `placeholder-spot-${workloadUid}`,
  uid: `p-${workloadUid}`,
  workloadUid,
  type: 'spot',
  shape: 'x',
  createdAtMs: NOW - 1_000,
  nodeName: null,
  terminating: false,
  ended: false,
  ...change,
});

const wish = (workloadUid: string, change: Partial<PlaceholderWish> = {}): PlaceholderWish => ({
  key: placeholderKey({ workloadUid, type: 'spot' }),
  workloadUid,
  type: 'spot',
  shape: 'x',
  sinceMs: NOW - 2_000,
  refusedUntilMs: 0,
  ...change,
});

const tend = (change: Partial<LifeSnapshot>) =>
  tendPlaceholders(
    { placeholders: [], wishes: [], expected: 0, isInherited: () => false, settings, ...change },
    NOW,
  );
const reasons = (change: Partial<LifeSnapshot>): readonly string[] =>
  tend(change).remove.map(({ placeholder, reason }) => `${placeholder.workloadUid} ${reason}`);

describe('placeholders', () => {
  it('are made for those who have waited longest, as many as there may be', () => {
    const wishes = ['a', 'b', 'c', 'd'].map((uid, index) => wish(uid, { sinceMs: NOW - index }));
    const made = (change: Partial<LifeSnapshot>) => tend(change).create.map(({ workloadUid }) => workloadUid);
    expect(made({ wishes })).toEqual(['d', 'c', 'b']);
    expect(made({ wishes, expected: 1 })).toEqual(['d', 'c']);
    expect(made({ wishes, placeholders: [there('d'), there('e')] })).toEqual(['c']);
  });

  it('are not made by one who only keeps, nor before the rest after one in vain is over', () => {
    const { create, againAtMs } = tend({
      wishes: [wish('a', { shape: null }), wish('b', { refusedUntilMs: NOW + 5 })],
    });
    expect(create).toEqual([]);
    expect(againAtMs).toBe(NOW + 5);
  });

  it('go when nobody wants them, but not before a new leader has looked at all workloads', () => {
    expect(reasons({ placeholders: [there('a')] })).toEqual(['a NotWanted']);
    expect(reasons({ placeholders: [there('a')], isInherited: () => true })).toEqual([]);
    expect(reasons({ placeholders: [there('a')], wishes: [wish('a', { shape: null })] })).toEqual([]);
  });

  it('go when no node comes, when they are old, when they have ended, and when a new one would differ', () => {
    const wishes = [wish('a')];
    const one = (change: Partial<PlaceholderView>) => reasons({ wishes, placeholders: [there('a', change)] });
    expect(one({ createdAtMs: NOW - 300_000 })).toEqual(['a WaitedTooLong']);
    expect(one({ createdAtMs: NOW - 300_000, nodeName: 'n' })).toEqual([]);
    expect(one({ createdAtMs: NOW - 900_000, nodeName: 'n' })).toEqual(['a TooOld']);
    expect(one({ ended: true })).toEqual(['a Ended']);
    expect(one({ shape: 'y' })).toEqual(['a Outdated']);
    expect(one({ shape: 'y', terminating: true })).toEqual([]);
  });

  it('rest longer after each one in vain, as long as the configuration says', () => {
    const rests = (initialMs: number, maxMs: number) =>
      [1, 2, 3, 5_000].map((failures) => restAfter(failures, { initialMs, maxMs }));
    expect(rests(60_000, 1_800_000)).toEqual([60_000, 120_000, 240_000, 1_800_000]);
    expect(rests(5_000, 1_000)).toEqual([5_000, 5_000, 5_000, 5_000]);
  });
});

describe('whatever there is', () => {
  const uids = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const types = fc.constantFrom<CapacityType>('spot', 'on-demand');
  const times = fc.integer({ min: NOW - 1_000_000, max: NOW });
  const views = fc.uniqueArray(
    fc
      .record({
        workloadUid: uids,
        type: types,
        createdAtMs: times,
        nodeName: fc.constantFrom(null, 'n'),
        terminating: fc.boolean(),
        ended: fc.boolean(),
        shape: fc.constantFrom('x', 'y'),
      })
      .map(({ workloadUid, ...change }) =>
        there(workloadUid, { ...change, uid: `${workloadUid}-${change.type}` }),
      ),
    { selector: placeholderKey },
  );
  const wishes = fc.uniqueArray(
    fc
      .record({
        workloadUid: uids,
        type: types,
        sinceMs: times,
        shape: fc.constantFrom(null, 'x'),
        refusedUntilMs: fc.constantFrom(0, NOW + 1),
      })
      .map(({ workloadUid, type, ...change }) =>
        wish(workloadUid, { type, key: placeholderKey({ workloadUid, type }), ...change }),
      ),
    { selector: ({ key }) => key },
  );

  it('never are there more than there may be, none stays for ever, and none is made that has to go', () => {
    fc.assert(
      fc.property(views, wishes, fc.nat(3), fc.nat(4), (placeholders, all, expected, max) => {
        const limits = { ...settings, max };
        const asked = { placeholders, wishes: all, expected, settings: limits };
        const { remove, create, againAtMs } = tend(asked);
        expect(create.length + (create.length > 0 ? placeholders.length + expected : 0)).toBeLessThanOrEqual(
          max,
        );
        const going = new Set(remove.map(({ placeholder }) => placeholder.uid));
        expect(going.size).toBe(remove.length);
        const staying = placeholders.filter(({ uid, type, terminating }) => {
          const isGoing = remove.some(({ placeholder: one }) => one.uid === uid && one.type === type);
          return !terminating && !isGoing;
        });
        expect(staying.length).toBeLessThanOrEqual(max);
        for (const { createdAtMs } of staying) expect(createdAtMs).toBeGreaterThan(NOW - limits.ageMs);
        if (staying.length > 0) expect(againAtMs).toBeGreaterThan(NOW);
        const made = create.map(({ workloadUid, type, shape }) =>
          there(workloadUid, { type, shape: shape ?? '' }),
        );
        expect(tend({ ...asked, placeholders: [...staying, ...made] }).remove).toEqual([]);
      }),
      propertyRuns,
    );
  });
});
