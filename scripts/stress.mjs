/**
 * Plays each file of tests on real parts three times with every core stressed, and once with a third of a CPU: what
 * passes then does not fail by the mood of a machine. In pieces: `npm run stress -- [--minutes N] [NAME]` goes on where
 * the record ends, and `--list` prints what the record says. A file that changes is to be played anew with `--again`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { realFiles } from './suite/files.mjs';
import { run, runJest } from './suite/jest.mjs';
import { starve, stressCores } from './suite/load.mjs';
import { prepareParts } from './suite/parts.mjs';
import { RealTests } from './suite/real.mjs';
import { Record, results } from './suite/record.mjs';
import { Steps } from './suite/steps.mjs';

const recordFile = 'e2e/stress.json';
const wanted = { stressed: 3, starved: 1 };

const record = new Record();
const steps = new Steps(record);
const { ending } = steps;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => steps.end(signal));

/** By file and by kind of load, the last runs in which nothing had changed it. */
const known = existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, 'utf8')) : {};

const runsOf = ({ path }, load) => known[path]?.[load] ?? [];
const passes = (file, load) => runsOf(file, load).filter(({ failed }) => failed === 0).length;
const isOpen = (file, load) =>
  !(load === 'starved' && file.starved !== undefined) &&
  runsOf(file, load).every(({ failed }) => failed === 0) &&
  passes(file, load) < wanted[load];

function note(path, load, outcome) {
  known[path] = { ...known[path], [load]: [...(known[path]?.[load] ?? []), outcome] };
  const sorted = Object.fromEntries(
    Object.entries(known).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
  writeFileSync(recordFile, `${JSON.stringify(sorted, null, 2)}\n`);
}

/** False where this machine cannot put on such a load. */
async function playUnder(load, file) {
  const [commit] = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).split('\n');
  const stress = load === 'stressed' ? stressCores() : starve();
  if ('missing' in stress) {
    console.log(stress.missing);
    return false;
  }
  const { command: under } = stress;
  const playJest = (args, options) => runJest(args, { ...options, under });
  const tests = new RealTests({ ending, record: new Record(), strict: true, lanes: 1, playJest });
  const began = performance.now();
  try {
    const there = Object.fromEntries(file.needs.map((need) => [need, Promise.resolve(true)]));
    const { passed, failed } = await tests.play({ files: [file], parts: there });
    const seconds = Math.round((performance.now() - began) / 1000);
    if (!ending.aborted) note(file.path, load, { commit, passed, failed, seconds });
  } finally {
    await stress.end();
  }
  return true;
}

function list(files) {
  for (const file of files) {
    const told = Object.keys(wanted).map((load) => {
      if (load === 'starved' && file.starved !== undefined) return `starved: not played, ${file.starved}`;
      const failures = runsOf(file, load).length - passes(file, load);
      return `${load}: ${passes(file, load)} of ${wanted[load]}${failures > 0 ? `, ${failures} FAILED` : ''}`;
    });
    console.log(`${file.path.padEnd(60)} ${told.join('   ')}`);
  }
}

const { values, positionals } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1000' },
    list: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const files = realFiles().filter(({ path }) => path.includes(positionals[0] ?? ''));
if (values.again) for (const { path } of files) delete known[path];
if (values.list) {
  list(files);
} else {
  mkdirSync(results, { recursive: true });
  await run('turbo', ['run', 'bundle', '--output-logs=errors-only', '--no-update-notifier'], { ending });
  await Promise.all(
    Object.values(prepareParts([...new Set(files.flatMap(({ needs }) => needs))], { ending, record })),
  );
  const endMs = performance.now() + Number(values.minutes) * 60_000;
  for (const load of Object.keys(wanted))
    for (const file of files)
      while (isOpen(file, load) && performance.now() < endMs && !ending.aborted)
        if (!(await playUnder(load, file))) break;
  list(files);
}
