import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../../testing/arbitraries.ts';
import { NOON } from '../../testing/rebalance.ts';
import { type Bulletin, type DroughtReport, nextProbeOf, readBulletin, writeBulletin } from './bulletin.ts';

const report = (more: Partial<DroughtReport> = {}): DroughtReport => ({
  kind: 'Deployment',
  namespace: 'shop',
  name: 'web',
  uid: 'web-uid',
  state: 'open',
  sinceMs: NOON - 60_000,
  nextProbeAtMs: NOON + 60_000,
  pool: 'spot',
  poolIsOpen: false,
  ...more,
});
const bulletin = (droughts: readonly DroughtReport[]): Bulletin => ({
  writer: 'controller-0',
  writtenAtMs: NOON,
  droughts,
  omitted: 0,
});
const read = (text: string | undefined): Bulletin => {
  const reading = readBulletin(text);
  if (reading.kind !== 'read') throw new Error(JSON.stringify(reading));
  return reading.bulletin;
};

const times = fc.integer({ min: NOON - 1e9, max: NOON + 1e9 });
const names = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
const reports = fc.record({
  kind: fc.constantFrom('Deployment' as const, 'StatefulSet' as const),
  namespace: names,
  name: names,
  uid: fc.uuid(),
  state: fc.constantFrom('open' as const, 'half-open' as const),
  sinceMs: times,
  nextProbeAtMs: fc.option(times),
  pool: fc.constantFrom('spot', 'spot [["zone","a"]]', 'spot "quoted"'),
  poolIsOpen: fc.boolean(),
});

describe('a bulletin of droughts', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.uniqueArray(reports, { selector: ({ uid }) => uid, maxLength: 20 }), (droughts) => {
        const back = read(writeBulletin(bulletin(droughts)));
        const ordered = droughts.toSorted((a, b) => a.sinceMs - b.sinceMs || (a.uid < b.uid ? -1 : 1));
        expect(back).toEqual(bulletin(ordered));
      }),
      propertyRuns,
    );
  });

  it('has a reading for every text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((json) => `{"version":1,"droughts":${json}}`),
        ),
        (text) => {
          expect(['read', 'blank', 'unreadable']).toContain(readBulletin(text).kind);
        },
      ),
      propertyRuns,
    );
  });

  it('is blank before anybody wrote one', () => {
    expect(readBulletin(undefined)).toEqual({ kind: 'blank' });
    expect(readBulletin(' \n')).toEqual({ kind: 'blank' });
  });

  const good = JSON.parse(writeBulletin(bulletin([report()])));
  const [entry] = good.droughts;
  it.each([
    ['another version', { ...good, version: 2 }, 'its version is 2, and 1 is understood'],
    ['no version', {}, 'its version is none, and 1 is understood'],
    ['no writer', { ...good, writer: undefined }, 'a part of it is missing or of another kind'],
    ['another time', { ...good, writtenAt: 'noon' }, 'a part of it is missing or of another kind'],
    ['no pools', { ...good, pools: [1] }, 'a part of it is missing or of another kind'],
    [
      'a kind of others',
      { ...good, droughts: [{ ...entry, workload: 'Job/shop/web' }] },
      'its drought number 1 is not whole',
    ],
    [
      'a name of three',
      { ...good, droughts: [{ ...entry, workload: 'Deployment/a/b/c' }] },
      'its drought number 1 is not whole',
    ],
    [
      'a state of others',
      { ...good, droughts: [entry, { ...entry, state: 'ajar' }] },
      'its drought number 2 is not whole',
    ],
    [
      'a pool that is none',
      { ...good, droughts: [{ ...entry, pool: 7 }] },
      'its drought number 1 is not whole',
    ],
    [
      'a probe at no time',
      { ...good, droughts: [{ ...entry, nextProbe: 'soon' }] },
      'its drought number 1 is not whole',
    ],
    ['a list', [good], 'it is not an object in JSON'],
  ])('with %s is told to be unreadable, and why', (_what, value, why) => {
    expect(readBulletin(JSON.stringify(value))).toEqual({ kind: 'unreadable', why });
  });

  it('has the longest droughts where there are too many, and says how many are left out', () => {
    const droughts = Array.from({ length: 700 }, (_, index) =>
      report({ uid: `u${index}`, sinceMs: NOON - index }),
    );
    const { droughts: kept, omitted } = read(writeBulletin(bulletin(droughts)));
    expect([kept.length, omitted]).toEqual([500, 200]);
    expect(kept[0]?.uid).toBe('u699');
  });

  it('stays small whatever placements are called', () => {
    const droughts = Array.from({ length: 400 }, (_, index) =>
      report({ uid: `u${index}`, pool: `${index} ${'x'.repeat(5_000)}` }),
    );
    const text = writeBulletin(bulletin(droughts));
    expect(text.length).toBeLessThan(300 * 1024);
    const { droughts: kept, omitted } = read(text);
    expect(kept.length + omitted).toBe(400);
  });

  it('names the next probe of an open breaker, and none of one that is being tried', () => {
    const common = { sinceMs: 1, backoffMs: 60_000 };
    expect(nextProbeOf({ state: 'open', ...common, openedAtMs: 5, early: true })).toBe(60_005);
    expect(nextProbeOf({ state: 'half-open', ...common, probedAtMs: 5, proven: false })).toBeNull();
  });
});
