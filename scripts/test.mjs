/**
 * Every test there is, in the order in which a failure is cheapest to learn: checks, unit tests, then the
 * tests on real parts, whose programs are fetched or built meanwhile. See `usage` for what else it can do.
 *
 * Ends with the plain line `N passed, N failed`; the exit code is 0 only if nothing failed and something ran. A signal
 * ends what runs and leaves out the rest.
 */
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ALTERNATIVES, isRare, PARTS } from '../e2e/cluster/index.ts';
import { runChecks } from './checks.mjs';
import { alternativesOf, isAtHand, leftOut } from './suite/alternatives.mjs';
import { affectedBy, changedSince } from './suite/changed.mjs';
import { realFiles, titleOf } from './suite/files.mjs';
import { run, runJest } from './suite/jest.mjs';
import { keepLastRun } from './suite/keep.mjs';
import { prepareParts } from './suite/parts.mjs';
import { RealTests } from './suite/real.mjs';
import { Record, results } from './suite/record.mjs';
import { Steps } from './suite/steps.mjs';

const usage = `npm test [-- OPTIONS]
  --changed [COMMIT]   checks and unit tests, and of the rest what a change since that commit (HEAD) can break
  --nightly            20,000 cases of each property instead of 1,000, every version that the docs promise; and --strict
  --strict             a test that fails once has failed, even if it passes when it is played again
  --lanes N            so many files on real parts at a time; twice the cores, at most 4, without it
  --scenarios [NAME]   only files on real parts with NAME in their path, or with the version of this name (helm-4), else
                       tests with NAME in their title
  --keep               runs nothing: keeps, of the last run, what each file took and which versions passed`;

/** Cases of each property and model test in a run that may take hours; otherwise it is 1,000. */
const nightlyCases = '20000';

const record = new Record();
const steps = new Steps(record);
const { ending } = steps;
/** Clusters note in it by which rules of the charts the services were let through. */
const callsFile = resolve(results, 'calls.txt');

const asOutcome = (code) => (code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });

/** Each rejected rule that a test notices when it comes back counts as one passed. */
async function runMutations(changed) {
  const report = `${results}/mutations.json`;
  const log = `${results}/mutations.log`;
  rmSync(report, { force: true });
  const of = changed.flatMap((path) => ['--of', path]);
  const code = await run('node', ['scripts/mutate.mjs', '--report', report, ...of], { log, ending });
  const { passed, failed } = existsSync(report)
    ? JSON.parse(readFileSync(report, 'utf8'))
    : { passed: 0, failed: 1 };
  const outcome = { passed, failed: failed === 0 && code !== 0 ? 1 : failed };
  console.log(
    `  ${outcome.failed > 0 ? 'FAILED' : 'ok'}  rejected rules: ${passed} of ${passed + failed} noticed`,
  );
  if (outcome.failed > 0) console.log(readFileSync(log, 'utf8'));
  return outcome;
}

/** So that a run can be repeated case by case, whether something failed or not. */
function seedProperties() {
  const { env } = process;
  env.SPOTALIS_PROPERTY_SEED ??= String(randomInt(2 ** 31));
  const cases = env.SPOTALIS_PROPERTY_RUNS ?? '1,000';
  console.log(`properties: ${cases} cases; again with SPOTALIS_PROPERTY_SEED=${env.SPOTALIS_PROPERTY_SEED}`);
}

async function testEverything({ strict, lanes, since, nightly }) {
  seedProperties();
  const changed = since === undefined ? undefined : changedSince(since);
  const known = realFiles();
  const files = changed === undefined ? known : affectedBy(changed, known);
  const all = [...files, ...alternativesOf(files)];
  const played = nightly ? all : all.filter(isAtHand);
  if (changed !== undefined)
    console.log(
      `${changed.length} files changed since ${since}: ${files.length} of ${known.length} on real parts`,
    );
  const mutations = {
    title: 'rejected rules',
    seconds: 240,
    needs: ['redis'],
    play: () => runMutations(changed ?? []),
  };
  const needed = new Set([...played, mutations].flatMap(({ needs }) => needs));
  const parts = prepareParts(
    [...Object.keys(PARTS), ...Object.keys(ALTERNATIVES)].filter((name) => needed.has(name)),
    { ending, record },
  );
  await steps.take('checks', () => runChecks(steps));
  await steps.take('bundles', bundle);
  await steps.take('unit tests', () =>
    runJest(['--selectProjects', 'unit', '--maxWorkers=100%'], { report: `${results}/unit.json`, ending }),
  );
  const { steady } = await playRealParts(played, { strict, lanes, parts, besides: [mutations] });
  // A test that failed, or was not played, did not use all that it uses.
  if (steady && changed === undefined) await steps.take('rights that nobody uses', compareRights);
  const aside = all.filter((file) => !played.includes(file));
  if (aside.length > 0) console.log(`\n${leftOut(aside)}`);
}

async function playRealParts(files, { strict, lanes, parts, besides }) {
  writeFileSync(callsFile, '');
  const tests = new RealTests({ ending, record, strict, lanes, env: { SPOTALIS_CALLS_FILE: callsFile } });
  const steady = await steps.take('tests on real parts', () => tests.play({ files, parts, besides }));
  if (tests.unsteady.length > 0)
    console.log(`\nunsteady, for they failed once and then passed: ${tests.unsteady.join(', ')}`);
  return { steady };
}

/** After all tests none may be left over. */
async function compareRights() {
  return asOutcome(await run('node', ['e2e/cluster/rights.ts', callsFile], { ending }));
}

/** The files with the pattern in their path, or else in their title; where there are none, the tests with it in theirs. */
async function playScenarios(pattern = '', { strict, lanes }) {
  const files = realFiles();
  const others = alternativesOf(files).filter((file) => titleOf(file).includes(pattern));
  const plain = files.filter(({ path }) => path.includes(pattern));
  const chosen = plain.length > 0 ? plain : others;
  const usual = Object.keys(PARTS).filter((name) => !isRare(name));
  const rare = new Set(chosen.flatMap(({ needs }) => needs.filter(isRare)));
  const parts = prepareParts([...usual, ...rare], { ending, record });
  await steps.take('bundles', bundle);
  if (chosen.length > 0) return playRealParts(chosen, { strict, lanes, parts });
  const names = files.map(({ path }) => basename(path, '.test.ts'));
  console.log(`no file has '${pattern}' in its path, so these are the tests with it in their title. Files:`);
  console.log(names.join(', '));
  await Promise.all(Object.values(parts));
  return steps.take('tests on real parts', async () => {
    const args = ['--selectProjects', 'real', '--runInBand', '--testNamePattern', pattern];
    const outcome = await runJest(args, { report: `${results}/titles.json`, ending });
    if (outcome.played === 0) console.log('no test was played: nothing fits');
    return outcome;
  });
}

async function bundle() {
  return asOutcome(
    await run('turbo', ['run', 'bundle', '--output-logs=errors-only', '--no-update-notifier'], { ending }),
  );
}

async function main() {
  const { values, positionals } = parseArgs({
    options: {
      changed: { type: 'boolean', default: false },
      nightly: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      scenarios: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      lanes: { type: 'string' },
    },
    allowPositionals: true,
  });
  if (values.keep) return keepLastRun();
  const strict = values.strict || values.nightly;
  const lanes = values.lanes === undefined ? undefined : Number(values.lanes);
  if (lanes !== undefined && !(Number.isInteger(lanes) && lanes > 0))
    throw new TypeError(`--lanes: '${values.lanes}' is not a number of lanes; for example 2`);
  if (values.nightly) process.env.SPOTALIS_PROPERTY_RUNS ??= nightlyCases;
  if (values.scenarios) await playScenarios(positionals[0], { strict, lanes });
  else if (values.changed)
    await testEverything({ strict, lanes, since: positionals[0] ?? 'HEAD', nightly: values.nightly });
  else if (positionals.length > 0) throw new TypeError(`unexpected argument '${positionals[0]}'`);
  else await testEverything({ strict, lanes, nightly: values.nightly });
  record.write();
  console.log(`\n${record.table()}`);
  console.log(`\n${steps.summary}`);
  process.exitCode = steps.exitCode;
}

mkdirSync(results, { recursive: true });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => steps.end(signal));
try {
  await main();
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.log(`${error.message}\n${usage}\n\n0 passed, 1 failed`);
  process.exitCode = 1;
}
