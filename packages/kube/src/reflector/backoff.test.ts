import { describe, expect, it } from '@jest/globals';
import { Backoff } from './backoff.ts';

describe('Backoff', () => {
  it('doubles from 0.8 s and stays at or below 30 s with all its jitter', () => {
    const least = new Backoff(
      () => 0,
      () => 0,
    );
    expect(Array.from({ length: 7 }, () => least.next())).toEqual([
      800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000,
    ]);
    const most = new Backoff(
      () => 0,
      () => 1,
    );
    expect(Math.max(...Array.from({ length: 20 }, () => most.next()))).toBe(30_000);
  });

  it('starts again after a stable minute and not after less', () => {
    let nowMs = 0;
    const backoff = new Backoff(
      () => nowMs,
      () => 0,
    );
    backoff.next();
    backoff.next();
    backoff.working();
    nowMs += 59_999;
    expect(backoff.next()).toBe(3_200);
    backoff.working();
    nowMs += 60_000;
    expect(backoff.next()).toBe(800);
  });

  it('spreads the first list after an expired version over a second, and slows down when that fails', () => {
    const backoff = new Backoff(
      () => 0,
      () => 0.5,
    );
    expect(backoff.afterExpiry()).toBe(500);
    expect(backoff.afterExpiry()).toBe(2_400);
  });
});
