import { describe, expect, it } from '@jest/globals';
import { parseQuantity } from './quantity.ts';

describe('a quantity', () => {
  it.each([
    ['1', 1],
    ['1500m', 1.5],
    ['0.1', 0.1],
    ['.5', 0.5],
    ['2Gi', 2 ** 31],
    ['2G', 2e9],
    ['1e3', 1000],
    ['1E3', 1000],
    ['2E', 2e18],
    ['100u', 1e-4],
    ['12Ki', 12_288],
  ])('%p is %p', (text, value) => {
    expect(parseQuantity(text)).toBeCloseTo(value, 9);
  });

  it.each(['', '1 Gi', '1g', 'Gi'])('is not %p', (text) => {
    expect(parseQuantity(text)).toBeNull();
  });
});
