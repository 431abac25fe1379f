import { describe, expect, it } from '@jest/globals';
import { kept } from './keep.mjs';

const moves = 'e2e/moves.test.ts';
const chart = 'charts/chart.test.ts';
const record = {
  commit: '0123456789abcdef',
  changed: false,
  began: '2026-11-20T10:00:00.000Z',
  files: [
    { path: moves, seconds: 36.6, failed: 0 },
    { path: chart, seconds: 0.2, failed: 0, alternative: 'helm-4' },
    { path: chart, seconds: 99, failed: 1 },
  ],
};
const known = {
  seconds: { 'e2e/gone.test.ts': 5, [chart]: 20 },
  compatibility: { [`${chart} with redis-8.0`]: { commit: 'aaaaaaa', date: '2026-01-01' } },
  titles: [moves, chart, `${chart} with helm-4`, `${chart} with redis-8.0`],
  rare: [`${chart} with helm-4`, `${chart} with redis-8.0`],
};

describe('what later runs are to know of the last one', () => {
  it('is how long each file took that passed, and which alternatives did', () => {
    expect(kept(record, known)).toEqual({
      seconds: { [chart]: 20, [`${chart} with helm-4`]: 1, [moves]: 37 },
      compatibility: {
        [`${chart} with helm-4`]: { commit: '0123456', date: '2026-11-20' },
        [`${chart} with redis-8.0`]: { commit: 'aaaaaaa', date: '2026-01-01' },
      },
    });
  });

  it('is no proof of compatibility where the sources were changed', () => {
    const { compatibility } = kept({ ...record, changed: true }, known);
    expect(compatibility).toEqual(known.compatibility);
  });
});
