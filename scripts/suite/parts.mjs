import { run } from './jest.mjs';

/**
 * Gets the parts into the cache one after another, the cheapest first, while other things go on. Resolves each with
 * whether it is there: a test that can do without says so itself.
 */
export function prepareParts(names, { ending }) {
  let before = Promise.resolve();
  const parts = {};
  for (const name of names) {
    parts[name] = before.then(async () => {
      if (ending.aborted) return false;
      return (await run('node', ['e2e/cluster/prepare.ts', name], { ending })) === 0;
    });
    before = parts[name];
  }
  return parts;
}
