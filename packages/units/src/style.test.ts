import { describe, expect, it } from '@jest/globals';
import { styleFor } from './style.ts';

describe('colour', () => {
  it('is for terminals that were not told otherwise', () => {
    expect(styleFor(true, {}).good('x')).not.toBe('x');
    for (const [isTerminal, environment] of [
      [false, {}],
      [true, { NO_COLOR: '1' }],
      [true, { TERM: 'dumb' }],
    ] as const) {
      expect(styleFor(isTerminal, environment).good('x')).toBe('x');
    }
  });
});
