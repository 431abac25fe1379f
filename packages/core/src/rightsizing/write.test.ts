import { describe, expect, it } from '@jest/globals';
import { nextSnapshot, snapshotWith, storedStatus } from '../testing/rightsizing.ts';
import { HOUR_MS, MiB, NOON_MS, usageWith } from '../testing/usage.ts';
import { decideSizes } from './decide.ts';
import { isWorthWriting } from './write.ts';

function statusAt(snapshot: ReturnType<typeof snapshotWith>, nowMs: number) {
  const { status } = decideSizes(snapshot, nowMs);
  if (status === null) throw new Error('no status');
  return status;
}

describe('a status', () => {
  const first = statusAt(snapshotWith(), NOON_MS);
  const stored = storedStatus(first);
  // From the second look on the container has its target.
  const second = statusAt(nextSnapshot(snapshotWith(), first), NOON_MS + 1000);
  const settled = storedStatus(second);

  it('is written when there is none, and when a target or a reason changes', () => {
    expect(isWorthWriting(null, first, NOON_MS)).toBe(true);
    expect(isWorthWriting(stored, second, NOON_MS + 1000)).toBe(true);
  });

  it('is not written for new times and percentiles, but every six hours', () => {
    const usage = new Map([
      ['app', usageWith({ cpu: { P50: 201, P90: 401, P99: 501 }, memoryNow: 301 * MiB })],
    ]);
    const later = (ms: number) => statusAt(nextSnapshot(snapshotWith({ usage }), second), NOON_MS + ms);
    expect(isWorthWriting(settled, later(2000), NOON_MS + 2000)).toBe(false);
    expect(isWorthWriting(settled, later(6 * HOUR_MS), NOON_MS + 6 * HOUR_MS)).toBe(false);
    expect(isWorthWriting(settled, later(7 * HOUR_MS), NOON_MS + 7 * HOUR_MS)).toBe(true);
  });
});
