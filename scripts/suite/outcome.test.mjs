import { describe, expect, it } from '@jest/globals';
import { outcomeOf } from './outcome.mjs';

const report = (numPassedTests, numFailedTests = 0, numRuntimeErrorTestSuites = 0) => ({
  numPassedTests,
  numFailedTests,
  numRuntimeErrorTestSuites,
});

describe('the outcome of a run of jest', () => {
  it('counts tests, and suites that could not be loaded', () => {
    expect(outcomeOf(report(7), 0)).toEqual({ passed: 7, failed: 0 });
    expect(outcomeOf(report(7, 2, 1), 1)).toEqual({ passed: 7, failed: 3 });
  });

  it('is a failure when jest failed for a reason of its own', () => {
    expect(outcomeOf(report(7), 1)).toEqual({ passed: 7, failed: 1 });
  });

  it('is a failure when no test was played', () => {
    expect(outcomeOf(report(0), 0)).toEqual({ passed: 0, failed: 1 });
  });
});
