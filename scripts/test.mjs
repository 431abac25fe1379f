/**
 * Every test there is, in the order in which a failure is cheapest to learn: checks, unit tests, then the
 * tests on real parts. `--nightly` is the same with many more cases. `--scenarios [pattern]` runs the scenarios alone: a file by its name, else tests by title.
 *
 * Ends with the plain line `N passed, N failed`; the exit code is 0 only if nothing failed and something ran. A signal
 * ends the step that runs and leaves out the rest.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { runChecks } from './checks.mjs';
import { outcomeOf } from './outcome.mjs';
import { Steps } from './steps.mjs';

/** Cases of each property and model test in a run that may take hours; otherwise it is 1,000. */
const nightlyCases = '20000';

const results = '.results';
const steps = new Steps();
const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];

/** How long jest may take to end after its report: longer, and a test left something running. */
const lingerMs = 30_000;

/** Runs to its end, or that of the steps; with `report`, no longer than `lingerMs` after that file was written. */
function run(command, args, { report } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', signal: steps.ending });
    let reportedAt;
    const linger = setInterval(() => {
      if (report === undefined || !existsSync(report)) return;
      reportedAt ??= Date.now();
      if (Date.now() - reportedAt < lingerMs) return;
      console.log('something that a test started still runs; ending it');
      child.kill('SIGKILL');
    }, 1_000);
    // One that is aborted says so before it ends.
    child.on('error', (error) => {
      if (error.name !== 'AbortError') reject(error);
    });
    child.on('exit', (code, signal) => {
      clearInterval(linger);
      // turbo says that all is well when it is told to end.
      resolve(steps.ending.aborted ? steps.ending.reason : (code ?? `signal ${signal}`));
    });
  });
}

/** Each rejected rule that a test notices when it comes back counts as one passed. */
async function runMutations() {
  const file = `${results}/mutations.json`;
  rmSync(file, { force: true });
  const code = await run('node', ['scripts/mutate.mjs', '--report', file]);
  if (!existsSync(file)) return { passed: 0, failed: 1 };
  const { passed, failed } = JSON.parse(readFileSync(file, 'utf8'));
  return { passed, failed: failed === 0 && code !== 0 ? 1 : failed };
}

async function runJest(name, args) {
  const file = `${results}/${name}.json`;
  rmSync(file, { force: true });
  const code = await run('node', [...jest, ...args, '--json', `--outputFile=${file}`], { report: file });
  let report;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    console.log(`jest wrote no report (${code})`);
    return { passed: 0, failed: 1 };
  }
  if (report.numTotalTests === report.numPendingTests) console.log('no test was played: nothing fits');
  return outcomeOf(report, code);
}

/** The files whose name has the pattern in it; where there are none, the tests whose title has. */
function selectScenarios(pattern) {
  const folders = ['e2e/scenarios', 'e2e/chaos'];
  if (pattern === undefined) return ['--testPathPatterns', ...folders];
  const files = folders
    .flatMap((folder) => readdirSync(folder).map((file) => `${folder}/${file}`))
    .filter((file) => file.endsWith('.test.ts'));
  const named = files.filter((file) => file.includes(pattern));
  if (named.length > 0) return ['--testPathPatterns', ...named];
  const names = files.map((file) => basename(file, '.test.ts')).toSorted();
  console.log(`no file is named '${pattern}', so these are the tests with it in their title. Files:`);
  console.log(names.join(', '));
  return ['--testPathPatterns', ...folders, '--testNamePattern', pattern];
}

/** So that a run can be repeated case by case, whether something failed or not. */
function seedProperties() {
  const { env } = process;
  env.SPOTALIS_PROPERTY_SEED ??= String(randomInt(2 ** 31));
  const cases = env.SPOTALIS_PROPERTY_RUNS ?? '1,000';
  console.log(`properties: ${cases} cases; again with SPOTALIS_PROPERTY_SEED=${env.SPOTALIS_PROPERTY_SEED}`);
}

async function testEverything() {
  seedProperties();
  await steps.take('checks', () => runChecks(steps));
  await steps.take('bundles', bundle);
  await steps.take('unit tests', () => runJest('unit', ['--selectProjects', 'unit']));
  if (!(await steps.take('what the real parts are made of', prepareRealParts))) return;
  await steps.take('tests on real parts', runWithRights);
  await steps.take('rejected rules, brought back one at a time', runMutations);
}

/** Clusters note by which rules of the charts the services were let through: afterwards none may be left over. */
async function runWithRights() {
  const file = `${process.cwd()}/${results}/calls.txt`;
  writeFileSync(file, '');
  process.env.SPOTALIS_CALLS_FILE = file;
  const { passed, failed } = await runJest('real', ['--selectProjects', 'real', '--runInBand']);
  // A test that failed did not use all that it uses.
  if (failed > 0) return { passed, failed };
  const code = await run('node', ['e2e/cluster/rights.ts', file]);
  return code === 0 ? { passed: passed + 1, failed } : { passed, failed: 1 };
}

async function playScenarios(pattern) {
  await steps.take('bundles', bundle);
  if (!(await steps.take('what the real parts are made of', prepareRealParts))) return;
  await steps.take('scenarios', () =>
    runJest('real', ['--selectProjects', 'real', '--runInBand', ...selectScenarios(pattern)]),
  );
}

async function bundle() {
  const code = await run('turbo', ['run', 'bundle', '--output-logs=errors-only', '--no-update-notifier']);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** A machine on which they cannot be had has not passed the tests that need them. */
async function prepareRealParts() {
  const code = await run('node', ['e2e/cluster/prepare.ts']);
  return { passed: 0, failed: code === 0 ? 0 : 1 };
}

mkdirSync(results, { recursive: true });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => steps.end(signal));
const [mode, pattern] = process.argv.slice(2);
if (mode === undefined) {
  await testEverything();
} else if (mode === '--nightly') {
  process.env.SPOTALIS_PROPERTY_RUNS ??= nightlyCases;
  await testEverything();
} else if (mode === '--scenarios') {
  await playScenarios(pattern);
} else {
  console.log(`unknown argument '${mode}': use none, --nightly, or --scenarios [pattern]`);
  steps.count({ passed: 0, failed: 1 });
}

console.log(`\n${steps.summary}`);
process.exitCode = steps.exitCode;
