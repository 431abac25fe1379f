import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url));

describe('npm run bench', () => {
  it('measures, prints and keeps what it is asked for', () => {
    const directory = mkdtempSync(join(tmpdir(), 'spotalis-bench-test-'));
    try {
      const file = join(directory, 'results.json');
      const args = ['scripts/bootstrap.mjs', 'bench', 'core', '--quick', '--json', file];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        cwd: repository,
        encoding: 'utf8',
      });
      expect({ status, stderr }).toMatchObject({ status: 0 });
      expect(stdout).toContain('Decision, ns');
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject([{ name: 'core', quick: true }]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
