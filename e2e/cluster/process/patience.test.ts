import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { measurePatience } from './patience.ts';
import { waitFor } from './wait.ts';

const variable = 'SPOTALIS_TEST_PATIENCE';

describe('patience', () => {
  let before: string | undefined;

  beforeEach(() => {
    before = process.env[variable];
  });

  afterEach(() => {
    if (before === undefined) delete process.env[variable];
    else process.env[variable] = before;
  });

  it('is at least twice that of an idle machine', () => {
    expect(measurePatience()).toBeGreaterThanOrEqual(2);
  });

  it('prolongs waits', async () => {
    process.env[variable] = '3';
    const wait = waitFor('pods', () => false, { timeoutMs: 10, intervalMs: 1 });
    await expect(wait).rejects.toThrow('waited 30 ms in vain for pods');
  });
});
