import { describe, expect, it } from '@jest/globals';
import { size } from '../testing/resizing.ts';
import { backOff, isBackingOff, type ResizeBackoff } from './backoff.ts';
import type { ResizeHold } from './hold.ts';

const small = new Map([['app', size({ cpu: 100, memory: 200 })]]);
const large = new Map([['app', size({ cpu: 200, memory: 200 })]]);
const after = (hold: ResizeHold, times = 1, random = 0): ResizeBackoff => {
  let last: ResizeBackoff | undefined;
  for (let i = 0; i < times; i++) last = backOff(last, { hold, node: 'n1', to: small }, 0, random);
  return last!;
};
const unreachable: ResizeHold = { reason: 'Unreachable', message: 'no answer' };

describe('the wait after a failed resize', () => {
  it('is 1 s, twice as long after each failure, and 5 min at most', () => {
    expect([1, 2, 3, 9, 10, 50].map((times) => after(unreachable, times).untilMs)).toEqual([
      1_000, 2_000, 4_000, 256_000, 300_000, 300_000,
    ]);
  });

  it('is as long as the server asks for', () => {
    const failed = { hold: unreachable, node: 'n1', to: small };
    expect(backOff(undefined, failed, 0, 0, 10_000).untilMs).toBe(10_000);
  });

  it('differs between pods by half of it', () => {
    expect(after(unreachable, 1, 0.999).untilMs).toBeCloseTo(1_499.5);
  });

  it('holds for any size while the server is the reason', () => {
    const backoff = after({ reason: 'Forbidden', message: 'no' });
    expect(isBackingOff(backoff, { node: 'n2', to: large }, 599_999)).toBe(true);
    expect(isBackingOff(backoff, { node: 'n1', to: small }, 600_000)).toBe(false);
  });

  it('ends with another size or another node where these are the reason, else in an hour', () => {
    const backoff = after({ reason: 'Infeasible', message: 'too large' });
    const same = new Map([['app', size({ memory: 200, cpu: 100 })]]);
    expect(isBackingOff(backoff, { node: 'n1', to: same }, 3_599_999)).toBe(true);
    expect(isBackingOff(backoff, { node: 'n1', to: large }, 0)).toBe(false);
    expect(isBackingOff(backoff, { node: 'n2', to: small }, 0)).toBe(false);
    expect(isBackingOff(backoff, { node: 'n1', to: small }, 3_600_000)).toBe(false);
  });
});
