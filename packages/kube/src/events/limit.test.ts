import { describe, expect, it } from '@jest/globals';
import { ObjectLimit } from './limit.ts';

describe('ObjectLimit', () => {
  it('lets 25 through at once and one more every five minutes, for each object alone', () => {
    let nowMs = 0;
    const limit = new ObjectLimit(() => nowMs);
    const allowed = (object: string): number =>
      Array.from({ length: 100 }, () => limit.allow(object)).filter(Boolean).length;
    expect(allowed('a')).toBe(25);
    expect(allowed('b')).toBe(25);
    nowMs = 599_999;
    expect(allowed('a')).toBe(1);
    nowMs = 600_000;
    expect(allowed('a')).toBe(1);
  });

  it('remembers the objects that were used last', () => {
    const limit = new ObjectLimit(() => 0);
    for (let i = 0; i < 25; i++) {
      limit.allow('a');
    }
    for (let i = 0; i < 4_000; i++) {
      limit.allow(`other-${i}`);
    }
    expect(limit.allow('a')).toBe(false);
    for (let i = 0; i < 5_000; i++) {
      limit.allow(`more-${i}`);
    }
    expect(limit.allow('a')).toBe(true);
  });
});
