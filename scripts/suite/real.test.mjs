import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RealTests } from './real.mjs';
import { Record } from './record.mjs';

const file = { path: 'e2e/moves.test.ts', needs: ['redis'] };
const there = { redis: Promise.resolve(true) };
const good = { passed: 3, failed: 0 };
const bad = { passed: 2, failed: 1 };

describe('a file of tests on real parts', () => {
  let printed;

  beforeEach(() => {
    printed = [];
    jest.spyOn(console, 'log').mockImplementation((line) => printed.push(line));
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  function testsWith(outcomes, options = {}) {
    const record = new Record();
    const { signal: ending } = new AbortController();
    const asked = [];
    const playJest = (args, { env }) => {
      asked.push({ path: args.at(-1), parts: env.SPOTALIS_TEST_PARTS, with: env.SPOTALIS_TEST_WITH });
      return Promise.resolve(outcomes.shift());
    };
    return { tests: new RealTests({ ending, record, playJest, ...options }), record, asked };
  }

  it('is told which parts it may use', async () => {
    const { tests, asked } = testsWith([good]);
    expect(await tests.play({ files: [file], parts: there })).toEqual(good);
    expect(asked).toEqual([{ path: file.path, parts: 'redis', with: '' }]);
  });

  it('is told which version it is played with, and listed apart from the usual one', async () => {
    const { tests, asked, record } = testsWith([good, good]);
    const other = { ...file, alternative: 'valkey-8.1', parts: file.needs, needs: ['valkey-8.1'] };
    const parts = { ...there, 'valkey-8.1': Promise.resolve(true) };
    expect(await tests.play({ files: [file, other], parts })).toEqual({ passed: 6, failed: 0 });
    expect(asked).toEqual([
      { path: file.path, parts: 'redis', with: '' },
      { path: file.path, parts: 'redis', with: 'valkey-8.1' },
    ]);
    expect(record.table()).toMatch(/ {2}e2e\/moves\.test\.ts\n.* {2}e2e\/moves\.test\.ts with valkey-8\.1$/);
  });

  it('is unsteady when it fails and then passes', async () => {
    const { tests, asked } = testsWith([bad, good]);
    expect(await tests.play({ files: [file], parts: there })).toEqual(good);
    expect(tests.unsteady).toEqual([file.path]);
    expect(asked).toHaveLength(2);
    expect(printed.join('\n')).toContain('unsteady');
  });

  it('has failed when it fails twice', async () => {
    const { tests } = testsWith([bad, bad]);
    expect(await tests.play({ files: [file], parts: there })).toEqual(bad);
    expect(tests.unsteady).toEqual([]);
  });

  it('has failed at once where the run is strict', async () => {
    const { tests, asked } = testsWith([bad, good], { strict: true });
    expect(await tests.play({ files: [file], parts: there })).toEqual(bad);
    expect(asked).toHaveLength(1);
  });

  it('has failed when a part of it is not to be had', async () => {
    const { tests, asked } = testsWith([]);
    const missing = { redis: Promise.resolve(false) };
    expect(await tests.play({ files: [file], parts: missing })).toEqual({ passed: 0, failed: 1 });
    expect(asked).toEqual([]);
    expect(printed.join('\n')).toContain('for want of one of these: redis');
  });

  it('runs beside jobs of another kind, which count', async () => {
    const { tests } = testsWith([good]);
    const besides = [{ title: 'rejected rules', seconds: 9, needs: [], play: () => Promise.resolve(bad) }];
    expect(await tests.play({ files: [file], parts: there, besides })).toEqual({ passed: 5, failed: 1 });
  });
});
