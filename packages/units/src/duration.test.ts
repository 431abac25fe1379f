import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { formatDuration, parseDuration } from './duration.ts';

const propertyRuns = { numRuns: Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1_000) };

describe('a duration', () => {
  it.each([
    ['4h', 14_400_000],
    ['2h30m', 9_000_000],
    ['1.5s', 1_500],
    ['.5s', 500],
    ['1.s', 1_000],
    ['100ms', 100],
    ['250us', 0.25],
    ['250\u00b5s', 0.25],
    ['250\u03bcs', 0.25],
    ['1000000ns', 1],
    ['0', 0],
    ['-0', 0],
    ['+1m', 60_000],
    ['-1m30s', -90_000],
    ['1m1m', 120_000],
    ['2562047h', 2_562_047 * 3_600_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBeCloseTo(ms, 6);
  });

  it.each([
    '',
    '1',
    's',
    '.s',
    '1x',
    '1d',
    '1s2',
    '1 h',
    ' 1h',
    '1h ',
    '1h-1m',
    '--1h',
    '1e3s',
    '1,5h',
    'never',
    '2562048h',
    `${'9'.repeat(99)}h`,
  ])('is not %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  it('adds up its parts', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.nat(100), fc.nat(100), (hours, minutes, seconds) => {
        const expected = ((hours * 60 + minutes) * 60 + seconds) * 1_000;
        expect(parseDuration(`${hours}h${minutes}m${seconds}s`)).toBe(expected);
      }),
      propertyRuns,
    );
  });

  it('reads back what it writes', () => {
    fc.assert(
      fc.property(fc.nat(10 ** 9), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
      propertyRuns,
    );
  });
});
