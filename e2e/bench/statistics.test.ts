import { describe, expect, it } from '@jest/globals';
import { slope } from './statistics.ts';

describe('the slope', () => {
  it('is that of the line the points are on, and 0 of level ones', () => {
    expect(
      slope([
        [0, 1],
        [1, 3],
        [3, 7],
      ]),
    ).toBeCloseTo(2);
    expect(
      slope([
        [1, 5],
        [2, 4],
        [3, 5],
      ]),
    ).toBeCloseTo(0);
  });
});
