import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { DisruptionWindow } from '../policy/policy.ts';
import { parseSchedule } from '../policy/schedule.ts';
import { propertyRuns } from '../testing/arbitraries.ts';
import { closing, isOpen, nextCommonOpening, nextOpening } from './window.ts';

const A_MINUTE = 60_000;
const AN_HOUR = 3_600_000;
const at = (text: string): number => Date.parse(text);

function window(text: string, durationMs: number): DisruptionWindow {
  const parsed = parseSchedule(text);
  if (!parsed.ok) throw new Error(parsed.expected);
  return { schedule: parsed.value, durationMs };
}

const opensAt = (one: DisruptionWindow, text: string): string => {
  const opening = nextOpening(one, at(text));
  return opening === null ? 'never' : new Date(opening).toISOString();
};

describe('a window', () => {
  const night = window('0 22 * * *', 4 * AN_HOUR);

  it('includes its start and excludes its end, to the millisecond', () => {
    expect(isOpen(night, at('2026-04-15T22:00:00Z') - 1)).toBe(false);
    expect(isOpen(night, at('2026-04-15T22:00:00Z'))).toBe(true);
    expect(isOpen(night, at('2026-04-16T02:00:00Z') - 1)).toBe(true);
    expect(isOpen(night, at('2026-04-16T02:00:00Z'))).toBe(false);
  });

  it('spans midnight, and the end of a month and a year', () => {
    for (const day of ['2026-04-16', '2026-05-01', '2027-01-01']) {
      expect(isOpen(night, at(`${day}T00:00:00Z`))).toBe(true);
      expect(isOpen(night, at(`${day}T01:59:59Z`))).toBe(true);
      expect(isOpen(night, at(`${day}T02:00:00Z`))).toBe(false);
    }
  });

  it('belongs to the day on which it opens', () => {
    const friday = window('0 22 * * 5', 8 * AN_HOUR);
    expect(isOpen(friday, at('2026-04-18T05:00:00Z'))).toBe(true);
    expect(isOpen(friday, at('2026-04-17T05:00:00Z'))).toBe(false);
  });

  it('says when it opens and closes', () => {
    expect(opensAt(night, '2026-04-15T12:00:00Z')).toBe('2026-04-15T22:00:00.000Z');
    expect(closing(night, at('2026-04-15T23:00:00Z'))).toBe(at('2026-04-16T02:00:00Z'));
    expect(closing(night, at('2026-04-15T12:00:00Z'))).toBeNull();
  });

  it('closes only after the last of windows that follow each other without a gap', () => {
    const touching = window('0 9-11 * * *', AN_HOUR);
    expect(closing(touching, at('2026-04-15T09:30:00Z'))).toBe(at('2026-04-15T12:00:00Z'));
    expect(isOpen(touching, at('2026-04-15T10:00:00Z'))).toBe(true);
    const overlapping = window('*/10 9 * * *', 15 * A_MINUTE);
    expect(closing(overlapping, at('2026-04-15T09:00:00Z'))).toBe(at('2026-04-15T10:05:00Z'));
    const apart = window('0 9-11 * * *', AN_HOUR - 1);
    expect(closing(apart, at('2026-04-15T09:30:00Z'))).toBe(at('2026-04-15T10:00:00Z') - 1);
  });

  it('that is never closed says so instead of counting to the end', () => {
    expect(closing(window('* * * * *', AN_HOUR), at('2026-04-15T09:30:00Z'))).toBeNull();
    expect(isOpen(window('0 0 29 2 *', 300 * 366 * 24 * AN_HOUR), at('2026-04-15T09:30:00Z'))).toBe(true);
  });

  it('may be shorter than a second', () => {
    const blink = window('0 12 * * *', 250);
    expect(isOpen(blink, at('2026-04-15T12:00:00Z'))).toBe(true);
    expect(isOpen(blink, at('2026-04-15T12:00:00Z') + 249)).toBe(true);
    expect(isOpen(blink, at('2026-04-15T12:00:00Z') + 250)).toBe(false);
    expect(isOpen(blink, at('2026-04-15T12:00:00Z') - 1)).toBe(false);
  });
});

describe('summer time', () => {
  it('moves the opening with the wall clock', () => {
    const berlin = window('CRON_TZ=Europe/Berlin 0 22 * * *', 4 * AN_HOUR);
    expect(opensAt(berlin, '2026-01-15T00:00:00Z')).toBe('2026-01-15T21:00:00.000Z');
    expect(opensAt(berlin, '2026-07-15T00:00:00Z')).toBe('2026-07-15T20:00:00.000Z');
  });

  it.each([
    // Zone, opening, a time before the change, when it opens around the change and on the days beside it.
    ['Europe/Berlin', '30 2', '2026-03-28T00:00:00Z', ['03-28T01:30', '03-29T01:00', '03-30T00:30']],
    ['America/New_York', '30 2', '2026-03-07T00:00:00Z', ['03-07T07:30', '03-08T07:00', '03-09T06:30']],
    ['Australia/Lord_Howe', '15 2', '2026-10-02T00:00:00Z', ['10-02T15:45', '10-03T15:30', '10-04T15:15']],
  ])('%s opens %s right after the gap when its time does not exist', (zone, time, from, expected) => {
    const one = window(`CRON_TZ=${zone} ${time} * * *`, AN_HOUR);
    let moment = from;
    for (const opening of expected) {
      expect(opensAt(one, moment)).toBe(`2026-${opening}:00.000Z`);
      moment = `2026-${opening}:00Z`;
    }
  });

  it.each([
    ['Europe/Berlin', '30 2', '2026-10-24T00:00:00Z', ['10-24T00:30', '10-25T00:30', '10-26T01:30']],
    ['America/New_York', '30 1', '2026-10-31T00:00:00Z', ['10-31T05:30', '11-01T05:30', '11-02T06:30']],
    ['Australia/Lord_Howe', '45 1', '2026-04-03T00:00:00Z', ['04-03T14:45', '04-04T14:45', '04-05T15:15']],
  ])('%s opens %s once, at the first of its two times', (zone, time, from, expected) => {
    const one = window(`CRON_TZ=${zone} ${time} * * *`, AN_HOUR);
    let moment = from;
    for (const opening of expected) {
      expect(opensAt(one, moment)).toBe(`2026-${opening}:00.000Z`);
      moment = `2026-${opening}:00Z`;
    }
  });

  it('does not change how long a window lasts', () => {
    // Four hours from 22:00 end at 03:00 by the wall clock in spring and at 01:00 in autumn.
    const berlin = window('CRON_TZ=Europe/Berlin 0 23 * * *', 4 * AN_HOUR);
    expect(closing(berlin, at('2026-03-28T23:00:00Z'))).toBe(at('2026-03-29T02:00:00Z'));
    expect(closing(berlin, at('2026-10-24T22:00:00Z'))).toBe(at('2026-10-25T01:00:00Z'));
    expect(isOpen(berlin, at('2026-10-25T00:59:59Z'))).toBe(true);
    expect(isOpen(berlin, at('2026-10-25T01:00:00Z'))).toBe(false);
  });

  it('closes after the last of windows without a gap, which a change of half an hour ends', () => {
    const now = at('2026-04-04T04:20:00Z');
    const one = window('CRON_TZ=Australia/Lord_Howe */20 * * * *', 25 * A_MINUTE - 1);
    const end = closing(one, now) ?? now;
    expect(end).toBeGreaterThan(now + 10 * AN_HOUR);
    expect(nextOpening(one, end - one.durationMs - 1)).toBe(end - one.durationMs);
    expect(isOpen(one, end)).toBe(false);
  });

  it('gives the same answer from every side of a change', () => {
    const changes = [
      '2026-03-29T01:00:00Z',
      '2026-10-25T01:00:00Z',
      '2026-11-01T06:00:00Z',
      '2026-04-04T15:00:00Z',
    ];
    const cases = fc.record({
      zone: fc.constantFrom(
        'Europe/Berlin',
        'America/New_York',
        'Australia/Lord_Howe',
        'America/Santiago',
        'UTC',
      ),
      pattern: fc.constantFrom(
        '30 2 * * *',
        '*/20 * * * *',
        '0 0 * * *',
        '15 1,2 * * *',
        '45 1-3 * * 0',
        '30 23 * * *',
      ),
      change: fc.constantFrom(...changes),
      offsetMs: fc.integer({ min: -12 * AN_HOUR, max: 12 * AN_HOUR }),
      durationMs: fc.integer({ min: 1, max: 6 * AN_HOUR }),
    });
    fc.assert(
      fc.property(cases, ({ zone, pattern, change, offsetMs, durationMs }) => {
        const one = window(`CRON_TZ=${zone} ${pattern}`, durationMs);
        const now = at(change) + offsetMs;
        // Every opening, found by walking forward from well before.
        const openings: number[] = [];
        let next = nextOpening(one, now - 7 * AN_HOUR);
        while (next !== null && next <= now + 10 * AN_HOUR) {
          openings.push(next);
          next = nextOpening(one, next);
        }
        expect(isOpen(one, now)).toBe(
          openings.some((opening) => opening <= now && now < opening + durationMs),
        );
        const end = closing(one, now);
        if (end === null) return;
        expect(isOpen(one, end - 1)).toBe(true);
        expect(isOpen(one, end)).toBe(false);
        // It may be of an opening long after the ones above, where windows follow each other without a gap.
        expect(nextOpening(one, end - durationMs - 1)).toBe(end - durationMs);
      }),
      propertyRuns,
    );
  });
});

describe('two windows', () => {
  const morning = window('0 8 * * *', 4 * AN_HOUR);
  const noon = window('0 11 * * *', 4 * AN_HOUR);

  it('are both open from the later opening on', () => {
    expect(nextCommonOpening([morning, noon], at('2026-04-15T00:00:00Z'))).toBe(at('2026-04-15T11:00:00Z'));
    expect(nextCommonOpening([morning, noon], at('2026-04-15T12:30:00Z'))).toBe(at('2026-04-16T11:00:00Z'));
    expect(nextCommonOpening([morning, noon], at('2026-04-15T11:30:00Z'))).toBe(at('2026-04-15T11:30:00Z'));
    expect(nextCommonOpening([], at('2026-04-15T11:30:00Z'))).toBe(at('2026-04-15T11:30:00Z'));
  });

  it('that meet once a week are found', () => {
    const sunday = window('0 0 * * 0', 9 * AN_HOUR);
    expect(nextCommonOpening([morning, sunday], at('2026-04-15T00:00:00Z'))).toBe(at('2026-04-19T08:00:00Z'));
  });

  it('that never meet are given up', () => {
    const late = window('0 20 * * *', AN_HOUR);
    expect(nextCommonOpening([morning, late], at('2026-04-15T00:00:00Z'))).toBeNull();
  });
});
