/**
 * Every test there is, in the order in which a failure is cheapest to learn: checks, unit tests, then the
 * tests on real parts. `--nightly` is the same with many more cases. `--scenarios [pattern]` runs the scenarios alone: a file by its name, else tests by title.
 *
 * Ends with the plain line `N passed, N failed`; the exit code is 0 only if nothing failed and something ran.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { runChecks } from './checks.mjs';
import { outcomeOf } from './outcome.mjs';

/** Cases of each property and model test in a run that may take hours; otherwise it is 1,000. */
const nightlyCases = '20000';

const results = '.results';
const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];

/** How long jest may take to end after its report: longer, and a test left something running. */
const lingerMs = 30_000;

/** Runs to the end; with `report`, no longer than `lingerMs` after that file was written. */
function run(command, args, { report } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit' });
    const pass = (signal) => child.kill(signal);
    for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, pass);
    let reportedAt;
    const linger = setInterval(() => {
      if (report === undefined || !existsSync(report)) return;
      reportedAt ??= Date.now();
      if (Date.now() - reportedAt < lingerMs) return;
      console.log('something that a test started still runs; ending it');
      child.kill('SIGKILL');
    }, 1_000);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearInterval(linger);
      for (const each of ['SIGTERM', 'SIGHUP']) process.off(each, pass);
      resolve(code ?? `signal ${signal}`);
    });
  });
}

function title(text) {
  console.log(`\n== ${text}`);
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

const total = { passed: 0, failed: 0 };
function add({ passed, failed }) {
  total.passed += passed;
  total.failed += failed;
}

/** So that a run can be repeated case by case, whether something failed or not. */
function seedProperties() {
  const { env } = process;
  env.SPOTALIS_PROPERTY_SEED ??= String(randomInt(2 ** 31));
  const cases = env.SPOTALIS_PROPERTY_RUNS ?? '1,000 (scenarios of the simulator: 100)';
  console.log(`properties: ${cases} cases; again with SPOTALIS_PROPERTY_SEED=${env.SPOTALIS_PROPERTY_SEED}`);
}

async function testEverything() {
  seedProperties();
  title('checks');
  add(runChecks());
  await bundle();
  title('unit tests');
  add(await runJest('unit', ['--selectProjects', 'unit']));
  if (!(await prepareRealParts())) return;
  title('tests on real parts');
  add(await runWithRights());
  title('rejected rules, brought back one at a time');
  add(await runMutations());
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
  await bundle();
  if (!(await prepareRealParts())) return;
  title('scenarios');
  add(await runJest('real', ['--selectProjects', 'real', '--runInBand', ...selectScenarios(pattern)]));
}

async function bundle() {
  title('bundles');
  const code = await run('turbo', ['run', 'bundle', '--output-logs=errors-only', '--no-update-notifier']);
  add(code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
}

/** A machine on which they cannot be had has not passed the tests that need them. */
async function prepareRealParts() {
  title('what the real parts are made of');
  const code = await run('node', ['e2e/cluster/prepare.ts']);
  if (code !== 0) add({ passed: 0, failed: 1 });
  return code === 0;
}

mkdirSync(results, { recursive: true });
process.on('SIGINT', () => {});
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
  total.failed += 1;
}

console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
