import { EventEmitter, once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { atLeast } from './go.ts';
import { prepareBinaries } from './prepare.ts';
import { cachedProgram, PROGRAM_NAMES } from './programs.ts';
import { lineProgress } from './progress.ts';

describe('the search for the control plane', () => {
  const environment = { ...process.env };
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'prepare-'));
    process.env['SPOTALIS_CACHE_DIR'] = join(dir, 'cache');
    delete process.env['SPOTALIS_BINARIES'];
  });
  afterEach(() => {
    process.env = { ...environment };
    rmSync(dir, { recursive: true });
  });

  const nobodyAsks = { report: (line: string) => expect(line).toBe('nothing') };

  it('is over at once when the cache holds these versions', async () => {
    for (const name of PROGRAM_NAMES) place(cachedProgram(name));
    expect((await prepareBinaries(nobodyAsks)).etcd).toMatch(/cache\/bin\/etcd-\d+\.\d+\.\d+\/etcd$/);
  });

  it('prefers the directory that the user names, by argument or by environment', async () => {
    for (const name of PROGRAM_NAMES) place(join(dir, 'mine', name));
    const mine = await prepareBinaries({ ...nobodyAsks, dir: join(dir, 'mine') });
    expect(mine.kwok).toBe(join(dir, 'mine', 'kwok'));
    process.env['SPOTALIS_BINARIES'] = join(dir, 'mine');
    expect(await prepareBinaries(nobodyAsks)).toEqual(mine);
  });

  it('names what the directory lacks', async () => {
    for (const name of PROGRAM_NAMES) if (name !== 'kwok') place(join(dir, 'mine', name));
    await expect(prepareBinaries({ ...nobodyAsks, dir: join(dir, 'mine') })).rejects.toThrow(
      'mine lacks kwok: it must hold etcd',
    );
  });
});

describe('progress', () => {
  it('has a sign of life for as long as the work takes', async () => {
    const lines: string[] = [];
    const gate = new EventEmitter();
    const done = once(gate, 'third line');
    const say = (line: string) => {
      lines.push(line);
      if (lines.length === 3) gate.emit('third line');
    };
    await lineProgress(say, 1).during('building', () => done);
    expect(lines[0]).toBe('building ...');
    expect(lines[1]).toMatch(/^building: still at it after \d+ s$/);
    expect(lines.at(-1)).toMatch(/^building: done in \d+ s$/);
  });

  it('is noted, once the work is done, for the one who keeps the times', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'progress-'));
    const file = join(dir, 'programs');
    process.env['SPOTALIS_PROGRAMS_FILE'] = file;
    try {
      const progress = lineProgress(() => undefined);
      await progress.during('building etcd', () => Promise.resolve());
      const failure = progress.during('building kwok', () => Promise.reject(new Error('no')));
      await expect(failure).rejects.toThrow('no');
      expect(readFileSync(file, 'utf8')).toMatch(/^\{"what":"building etcd","seconds":\d+\}\n$/);
    } finally {
      delete process.env['SPOTALIS_PROGRAMS_FILE'];
      rmSync(dir, { recursive: true });
    }
  });
});

describe('the Go version', () => {
  it.each([
    [[1, 26, 8], [1, 26, 8], true],
    [[1, 26, 10], [1, 26, 8], true],
    [[1, 27], [1, 26, 8], true],
    [[1, 26], [1, 26, 8], false],
    [[1, 19, 8], [1, 21], false],
    [[2, 0], [1, 26, 8], true],
  ])('%j is at least %j: %s', (version, wanted, answer) => {
    expect(atLeast(version, wanted)).toBe(answer);
  });
});

function place(file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
  chmodSync(file, 0o755);
}
