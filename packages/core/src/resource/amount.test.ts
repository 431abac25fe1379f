import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../testing/arbitraries.ts';
import { readAmount } from './amount.ts';

const suffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P'];

describe('an amount', () => {
  it.each([
    ['700m', '0.7'],
    ['1Ki', '1024'],
    ['1.5Gi', '1536Mi'],
    ['1000000u', '1'],
    ['0.1n', '1n'],
    ['1.0000000001', null],
  ])('%s is as much as %s', (one, other) => {
    const amount = readAmount('quantity', one);
    expect(amount).toBe(other === null ? null : readAmount('quantity', other));
  });

  it('is exact: a quantity is a thousand times that of the next smaller suffix', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 14n }),
        fc.integer({ min: 1, max: suffixes.length - 1 }),
        (amount, index) => {
          const large = readAmount('quantity', `${amount}${suffixes[index]}`);
          expect(large).toBe(readAmount('quantity', `${amount}000${suffixes[index - 1]}`));
        },
      ),
      propertyRuns,
    );
  });

  it.each([
    ['1h30m', 5_400_000n],
    ['90m', 5_400_000n],
    ['1s500ms', 1_500n],
    ['0s', 0n],
    ['0', null],
    ['1.5h', null],
    ['-1h', null],
    ['100000h', null],
    ['1h1h1h1h1h', null],
  ])('%s is a duration of %s ms', (text, ms) => {
    expect(readAmount('duration', text)).toBe(ms);
  });
});
