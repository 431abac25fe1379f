import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { runJest } from './jest.mjs';

describe('a run of jest that writes no report', () => {
  /** In its place, something that ends at once. */
  const under = ['sh', '-c', 'exit 3'];
  let dir;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'jest-'));
  });

  afterEach(() => {
    jest.restoreAllMocks();
    rmSync(dir, { recursive: true });
  });

  it('has failed, and says so in its log', async () => {
    const log = join(dir, 'log');
    const outcome = await runJest([], { report: join(dir, 'report.json'), log, under });
    expect(outcome).toEqual({ passed: 0, failed: 1, played: 0 });
    expect(readFileSync(log, 'utf8')).toBe('jest ended with 3 and wrote no report\n');
  });

  it('says so on the terminal where it has no log', async () => {
    const said = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    await runJest([], { report: join(dir, 'report.json'), under });
    expect(said).toHaveBeenCalledWith('jest ended with 3 and wrote no report');
  });
});
