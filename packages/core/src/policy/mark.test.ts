import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { policyNumbers, propertyRuns } from '../testing/arbitraries.ts';
import { formatPolicyMark, parsePolicyMark } from './mark.ts';

describe("a pod's policy mark", () => {
  it('reads back as written', () => {
    expect(formatPolicyMark({ spotPercentage: 70, minOnDemand: 2 })).toBe('70/2');
    fc.assert(
      fc.property(policyNumbers, (numbers) => {
        expect(parsePolicyMark(formatPolicyMark(numbers))).toEqual(numbers);
      }),
      propertyRuns,
    );
  });

  it.each(['', '70', '70/', '/2', '101/2', '70/10001', '70/2/3', '-1/2', ' 70/2'])('is not %j', (text) => {
    expect(parsePolicyMark(text)).toBeNull();
  });
});
