import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Record } from './record.mjs';
import { Steps } from './steps.mjs';

const good = { passed: 2, failed: 0 };
const bad = { passed: 1, failed: 1 };

describe('the steps of a run', () => {
  let steps;
  let record;

  beforeEach(() => {
    jest.spyOn(console, 'log').mockImplementation(() => undefined);
    record = new Record();
    steps = new Steps(record);
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('are summed up', async () => {
    expect(await steps.take('one', () => good)).toBe(true);
    expect(steps).toMatchObject({ summary: '2 passed, 0 failed', exitCode: 0 });
    expect(await steps.take('two', () => bad)).toBe(false);
    expect(steps).toMatchObject({ summary: '3 passed, 1 failed', exitCode: 1 });
    expect(record.table()).toMatch(/ s {2}one\n.* s {2}two\n.* s {2}all$/m);
  });

  it('have not passed when there were none', () => {
    expect(steps).toMatchObject({ summary: '0 passed, 0 failed', exitCode: 1 });
  });

  it.each([
    { signal: 'SIGINT', exitCode: 130 },
    { signal: 'SIGTERM', exitCode: 143 },
    { signal: 'SIGHUP', exitCode: 129 },
  ])('end with the one that $signal interrupts', async ({ signal, exitCode }) => {
    const interrupted = () => {
      steps.end(signal);
      expect(steps.ending.aborted).toBe(true);
      return { passed: 0, failed: 1 };
    };
    expect(await steps.take('one', interrupted)).toBe(false);
    expect(await steps.take('two', () => good)).toBe(false);
    expect(steps).toMatchObject({ summary: '0 passed, 1 failed', exitCode });
  });

  it('have not passed when they were ended between two', async () => {
    await steps.take('one', () => good);
    steps.end('SIGINT');
    steps.end('SIGTERM');
    await steps.take('two', () => good);
    expect(steps).toMatchObject({ summary: '2 passed, 0 failed', exitCode: 130 });
  });
});
