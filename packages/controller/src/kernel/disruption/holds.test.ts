import { describe, expect, it } from '@jest/globals';
import { Holds } from './holds.ts';

const holds = (): Holds => new Holds(() => 0);

describe('what the API server refused', () => {
  it.each([
    ['10 s after a PDB said no', { kind: 'blocked', message: 'no' }, false, 10_000],
    ['when the server says', { kind: 'blocked', message: 'no', retryAfterMs: 3_000 }, false, 3_000],
    ['2 min after a conflict that spent a PDB', { kind: 'conflict', message: 'x' }, true, 120_000],
    ['soon after a conflict without a PDB', { kind: 'conflict', message: 'x' }, false, 1_000],
    ['seldom with two PDBs', { kind: 'tooManyBudgets', message: 'x' }, true, 300_000],
  ] as const)('is asked again %s', (_when, outcome, hasPdb, untilMs) => {
    const all = holds();
    expect(all.refused('web', outcome, hasPdb, 0).untilMs).toBe(untilMs);
    expect(all.of('web', untilMs - 1)).toBeDefined();
    expect(all.of('web', untilMs)).toBeUndefined();
  });

  it('is asked ever more seldom when it is forbidden, and no more so after a success', () => {
    const all = holds();
    const ask = () => all.refused('web', { kind: 'forbidden', message: 'no' }, false, 0).untilMs;
    expect([ask(), ask(), ask()]).toEqual([5_000, 10_000, 20_000]);
    for (let i = 0; i < 20; i++) ask();
    expect(ask()).toBe(300_000);
    all.lift('web');
    expect(all.of('web', 0)).toBeUndefined();
    expect(ask()).toBe(5_000);
  });

  it('does not grow with each refusal of a PDB', () => {
    const all = holds();
    const ask = () => all.refused('web', { kind: 'blocked', message: 'no' }, true, 0).untilMs;
    expect([ask(), ask(), ask()]).toEqual([10_000, 10_000, 10_000]);
  });
});
