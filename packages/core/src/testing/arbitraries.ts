import * as fc from 'fast-check';
import type { PolicyNumbers } from '../policy/target.ts';

/** Runs of each property; CI raises it. A failure prints the seed that repeats it. */
export const propertyRuns = { numRuns: Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000) };

/** Floors near the replica counts of the properties are where the formulas bend, so small ones come more often. */
export const policyNumbers: fc.Arbitrary<PolicyNumbers> = fc.record({
  spotPercentage: fc.integer({ min: 0, max: 100 }),
  minOnDemand: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 10_000 })),
});
