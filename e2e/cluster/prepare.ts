/**
 * Gets what the tests need into the cache, and starts nothing: `node e2e/cluster/prepare.ts [PART | ALTERNATIVE ...]`, all
 * parts without a name but those that only compatibility takes.
 */
import { isRare, PARTS } from './parts.ts';
import { announce } from './process/announce.ts';
import { reasonOf } from './process/failure.ts';
import { ALTERNATIVES, isAlternative } from './versions.ts';

const asked = process.argv.slice(2);

try {
  for (const name of asked.length > 0 ? asked : Object.keys(PARTS).filter((part) => !isRare(part))) {
    const other = isAlternative(name) ? ALTERNATIVES[name].part : undefined;
    process.env['SPOTALIS_TEST_WITH'] = other ? name : '';
    const prepare = PARTS[other ?? name];
    if (prepare === undefined)
      throw new RangeError(
        `there is no part '${name}': use ${[...Object.keys(PARTS), ...Object.keys(ALTERNATIVES)].join(', ')}`,
      );
    const whyNot = await prepare(announce);
    if (whyNot !== undefined) announce(`going on without: ${whyNot}`);
  }
} catch (error) {
  announce(`cluster: ${reasonOf(error)}`);
  process.exitCode = 1;
}
