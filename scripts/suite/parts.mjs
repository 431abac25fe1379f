import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './jest.mjs';
import { results } from './record.mjs';

/**
 * Gets the parts into the cache one after another, the cheapest first, while other things go on. Resolves each with
 * whether it is there: a test that can do without says so itself. The record gets what was fetched or built for it.
 * `runProgram` is `run`, but for its own tests.
 */
export function prepareParts(names, { ending, record, runProgram = run }) {
  mkdirSync(results, { recursive: true });
  let before = Promise.resolve();
  const parts = {};
  for (const name of names) {
    parts[name] = before.then(async () => {
      if (ending.aborted) return false;
      const noted = join(results, `programs-${name}.jsonl`);
      rmSync(noted, { force: true });
      const env = { SPOTALIS_PROGRAMS_FILE: noted };
      const code = await runProgram('node', ['e2e/cluster/prepare.ts', name], { ending, env });
      for (const program of linesOf(noted)) record.program(name, program);
      return code === 0;
    });
    before = parts[name];
  }
  return parts;
}

function linesOf(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
