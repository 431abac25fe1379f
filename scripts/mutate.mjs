/**
 * Do the tests hold the rule? Brings back, one at a time, the rules that were tried and rejected, in a copy of the
 * sources, and demands that a test goes red. `node scripts/mutate.mjs [part of a name]`; with --report FILE the
 * counts go there as JSON; with --of FILE (once or more) only those that edit such a file, or whose tests it is of;
 * with --places it only looks whether each finds its place and its tests, which takes no time.
 *
 * A mutation that no test notices is a failure; so is one whose place in the source is lost, since it would prove
 * nothing; and so are tests that are red without any mutation.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { applied, placeOf } from './anchors.mjs';
import { MutatedCopy } from './mutated-copy.mjs';
import { mutations } from './mutations.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const isUnitTest = (path) => path.endsWith('.test.ts') && !path.endsWith('.real.test.ts');
const packaged = globSync('packages/*/src/**/*.{ts,lua}', { cwd: root }).toSorted();
const unitTests = packaged.filter(isUnitTest);
const sources = new Map(
  packaged
    .filter((path) => !path.endsWith('.test.ts') && !path.includes('/testing/'))
    .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
);

/** The mutation with what its edits make of the sources, and the tests that are to notice; throws where either is lost. */
function located({ name, because, edits, tests }) {
  const beside = () => placeOf(edits[0], sources).path.replace(/\.ts$/, '\\.test\\.ts$');
  const found = { name, because, changed: applied(edits, sources), tests: tests ?? beside() };
  if (found.tests !== 'redis' && !unitTests.some((path) => new RegExp(found.tests).test(path)))
    throw new Error(`no unit test has '${found.tests}' in its path`);
  return found;
}

/** All mutations, and one line for each that is lost. */
function locateAll() {
  const known = [];
  const lost = [];
  for (const mutation of mutations) {
    try {
      known.push(located(mutation));
    } catch (error) {
      lost.push(`${mutation.name}: ${error.message}`);
    }
  }
  return { known, lost };
}

async function main() {
  const { values, positionals } = parseArgs({
    options: {
      report: { type: 'string' },
      of: { type: 'string', multiple: true },
      places: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const [wanted = ''] = positionals;
  const { known, lost } = locateAll();
  for (const line of lost) console.log(`FAILED  ${line}`);
  if (values.places || lost.length > 0) return writeReport(values.report, { passed: 0, failed: lost.length });
  const chosen = known.filter((mutation) => mutation.name.includes(wanted) && concerns(mutation, values.of));
  if (chosen.length === 0 && values.of) {
    console.log('no mutation concerns these files');
    return writeReport(values.report, { passed: 0, failed: 0 });
  }
  if (chosen.length === 0) {
    console.log(`no mutation has '${wanted}' in its name; there are:`);
    for (const { name } of mutations) console.log(`  ${name}`);
    return 1;
  }
  const copy = new MutatedCopy(root, sources);
  process.on('exit', () => copy.remove());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

  for (const tests of new Set(chosen.map((mutation) => mutation.tests))) {
    const { red, broken } = await copy.redTests(tests, { few: true });
    const problem = broken ?? red.at(0);
    if (problem === undefined) continue;
    console.log(`FAILED  the tests are red without any mutation: ${problem}`);
    return 1;
  }
  let failed = 0;
  const width = Math.max(...chosen.map(({ name }) => name.length));
  for (const mutation of chosen) {
    const began = Date.now();
    const { problem, red } = await copy.try(mutation);
    const seconds = `${((Date.now() - began) / 1000).toFixed(1)} s`;
    const verdict = problem ?? `${red.length} red, as: ${red[0]}`;
    console.log(
      `${problem ? 'FAILED' : 'ok    '}  ${mutation.name.padEnd(width)}  ${seconds.padStart(6)}  ${verdict}`,
    );
    if (problem) failed += 1;
  }
  console.log(`\n${chosen.length - failed} of ${chosen.length} rejected rules were noticed`);
  return writeReport(values.report, { passed: chosen.length - failed, failed });
}

/** Returns the exit code. */
function writeReport(file, outcome) {
  if (file) writeFileSync(file, JSON.stringify(outcome));
  return outcome.failed === 0 ? 0 : 1;
}

function concerns({ changed, tests }, files) {
  if (files === undefined) return true;
  const ofTests = new RegExp(tests === 'redis' ? '^packages/ledger/src/redis/' : tests);
  return files.some((path) => changed.has(path) || ofTests.test(path));
}

process.exitCode = await main();
