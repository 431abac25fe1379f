import { describe, expect, it } from '@jest/globals';
import { array, assert, boolean, constantFrom, integer, property, record, string } from 'fast-check';
import type { OwnDecision } from './ledger.ts';
import { YoungDecisions } from './young.ts';

const keptMs = 8_000;
const decision = (token: string, rank = 0): OwnDecision => ({ token, type: 'spot', rank, substitute: false });

const world = () => {
  const clock = { nowMs: 0 };
  return { clock, young: new YoungDecisions(keptMs, () => clock.nowMs) };
};

describe('young decisions', () => {
  it('come back as they were', () => {
    const decisions = record({
      token: string(),
      type: constantFrom('spot', 'on-demand'),
      rank: integer({ min: -1, max: 2 ** 40 }),
      substitute: boolean(),
    });
    assert(
      property(decisions, (one) => {
        const { young } = world();
        young.add('rs', one);
        expect(young.get('rs', one.token)).toEqual(one);
        expect(young.of('rs')).toEqual([one]);
      }),
    );
  });

  it('are kept for the time given and an eighth more at most', () => {
    const delays = array(integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 60 });
    assert(
      property(delays, (all) => {
        const { clock, young } = world();
        const addedAt = new Map<string, number>();
        for (const [n, delay] of all.entries()) {
          clock.nowMs += delay;
          young.add('rs', decision(`pod-${n}`));
          addedAt.set(`pod-${n}`, clock.nowMs);
          const tokens = new Set(young.of('rs').map(({ token }) => token));
          for (const [token, atMs] of addedAt) {
            const ageMs = clock.nowMs - atMs;
            if (ageMs <= keptMs) expect(tokens).toContain(token);
            if (ageMs > (keptMs * 9) / 8) expect(tokens).not.toContain(token);
          }
        }
      }),
    );
  });

  it('are as they were added last, and young again by it', () => {
    const { clock, young } = world();
    young.add('rs', decision('a', 1));
    young.add('rs', decision('b'));
    clock.nowMs = 5_000;
    young.add('rs', decision('a', 2));
    expect(young.get('rs', 'a')).toEqual(decision('a', 2));
    expect(young.of('rs')).toEqual([decision('a', 2), decision('b')]);
    clock.nowMs = 10_000;
    expect(young.of('rs')).toEqual([decision('a', 2)]);
  });

  it('are removed wherever they were added, one or all of a ReplicaSet', () => {
    const { clock, young } = world();
    for (const nowMs of [0, 3_000]) {
      clock.nowMs = nowMs;
      for (const token of ['a', 'b']) young.add('rs', decision(token));
      young.add('other', decision('c'));
    }
    young.remove('rs', 'a');
    expect(young.get('rs', 'a')).toBeUndefined();
    expect(young.of('rs')).toEqual([decision('b')]);
    young.forget('rs');
    expect(young.of('rs')).toEqual([]);
    expect(young.of('other')).toEqual([decision('c')]);
  });
});
