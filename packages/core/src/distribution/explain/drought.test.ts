import { describe, expect, it } from '@jest/globals';
import { NOON } from '../../testing/rebalance.ts';
import { explainDrought } from './drought.ts';

const sinceMs = NOON - 60_000;
const open = { state: 'open', sinceMs, nextProbeAtMs: NOON + 60_000 } as const;

describe('what is said of a drought', () => {
  it('is nothing where there is none', () => {
    expect(explainDrought(null, false)).toEqual([]);
  });

  it('is since when, what becomes of new pods, and when spot is tried next', () => {
    const [since, next, ...more] = explainDrought(open, false);
    expect(since).toContain(
      `since ${new Date(sinceMs).toISOString().replace('.000Z', 'Z')}: new pods for spot go to on-demand`,
    );
    expect(next).toContain(`tried again at ${new Date(NOON + 60_000).toISOString().replace('.000Z', 'Z')}`);
    expect(more).toEqual([]);
  });

  it('is no time of a next try while it is being tried', () => {
    const told = explainDrought({ state: 'half-open', sinceMs, nextProbeAtMs: null }, false);
    expect(told).toEqual([expect.stringContaining('it is being tried again: one pod at a time')]);
  });

  it('names the others of the placement, with a drought of its own or without', () => {
    expect(explainDrought(open, true).at(-1)).toContain(
      'Other workloads of the same placement find none either',
    );
    expect(explainDrought(null, true)).toEqual([expect.stringContaining('go to on-demand at once')]);
  });
});
