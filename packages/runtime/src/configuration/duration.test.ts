import { describe, expect, it } from '@jest/globals';
import { assert, nat, property } from 'fast-check';
import { formatDuration, parseDuration } from './duration.ts';

const runs = Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1_000);

describe('durations', () => {
  it.each([
    ['30s', 30_000],
    ['1500ms', 1_500],
    ['1.5s', 1_500],
    ['2h30m', 9_000_000],
    ['.5m', 30_000],
    ['0', 0],
    ['250us', 0],
    ['1000µs', 1],
  ])('reads %s as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '30', 's', '30 s', '-1s', '+1s', '1d', '1s2', '1,5s', '1e3s', ' 1s'])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('reads back what it writes', () => {
    assert(
      property(nat(10 ** 9), (ms) => expect(parseDuration(formatDuration(ms))).toBe(ms)),
      { numRuns: runs },
    );
  });
});
