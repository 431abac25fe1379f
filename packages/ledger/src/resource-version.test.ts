import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { compareResourceVersions, laterResourceVersion } from './resource-version.ts';

const runs = { numRuns: Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000) };

describe('resource versions', () => {
  it('are ordered as the integers that they are, of any size', () => {
    const versions = fc.bigInt({ min: 1n, max: 2n ** 64n });
    fc.assert(
      fc.property(versions, versions, (a, b) => {
        const order = Math.sign(compareResourceVersions(String(a), String(b)));
        expect(order).toBe(a < b ? -1 : a > b ? 1 : 0);
        expect(laterResourceVersion(String(a), String(b))).toBe(String(a > b ? a : b));
      }),
      runs,
    );
  });

  it('differ beyond 2^53 where numbers do not', () => {
    expect(compareResourceVersions('9007199254740993', '9007199254740992')).toBeGreaterThan(0);
  });
});
