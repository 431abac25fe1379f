import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { titleOf } from './files.mjs';
import { runJest } from './jest.mjs';
import { playInLanes } from './lanes.mjs';
import { results, rounded } from './record.mjs';

/** A cluster at work keeps about a third of a core busy: most of a test is waiting for something to happen. */
const usualLanes = 2 * Math.min(2, availableParallelism());

const seconds = JSON.parse(readFileSync(new URL('seconds.json', import.meta.url), 'utf8'));

/** Of a file that nobody has measured yet. */
const unknownSeconds = 60;

const line = (verdict, took, path, rest) =>
  console.log(`  ${verdict.padEnd(8)} ${took.toFixed(1).padStart(6)} s  ${path}${rest}`);

/** Tests on real parts, file by file; each file has a process of its own, so that none inherits another's state. */
export class RealTests {
  #ending;
  #record;
  #strict;
  #env;
  #play;
  #lanes;
  #unsteady = [];

  /** With `strict`, a file that fails once has failed. `playJest` is `runJest`, but for its own tests. */
  constructor({ ending, record, strict = false, env = {}, lanes = usualLanes, playJest = runJest }) {
    this.#ending = ending;
    this.#record = record;
    this.#strict = strict;
    this.#env = env;
    this.#lanes = lanes;
    this.#play = playJest;
    mkdirSync(join(results, 'files'), { recursive: true });
  }

  /**
   * Plays all files in lanes, and once more, alone, those that failed. `besides` are jobs of another kind which may run
   * at the same time: `{ title, seconds, needs, play }`.
   */
  async play({ files, parts, besides = [] }) {
    const total = { passed: 0, failed: 0 };
    const count = ({ passed, failed }) => {
      total.passed += passed;
      total.failed += failed;
    };
    const again = [];
    const jobs = [
      ...besides,
      ...files.map((file) => ({
        ...file,
        seconds: seconds[titleOf(file)] ?? seconds[file.path] ?? unknownSeconds,
        play: async () => {
          const outcome = await this.#playOnce(file);
          if (outcome.failed > 0) again.push({ file, first: outcome });
          else count(outcome);
        },
      })),
    ];
    const left = await playInLanes({
      jobs,
      lanes: this.#lanes,
      parts,
      ending: this.#ending,
      play: async (job) => {
        const outcome = await job.play();
        if (outcome !== undefined) count(outcome);
      },
    });
    for (const { file, first } of again) count(await this.#playAgain(file, first));
    if (this.#ending.aborted) return total;
    for (const job of left) {
      line('FAILED', 0, titleOf(job), `: not played, for want of one of these: ${job.needs.join(', ')}`);
      count({ passed: 0, failed: 1 });
    }
    return total;
  }

  /** Files that failed once and passed when they were played again. */
  get unsteady() {
    return this.#unsteady;
  }

  async #playOnce(file) {
    const outcome = await this.#jest(file, 'log');
    this.#record.file(file, outcome.took, outcome);
    const { passed, failed } = outcome;
    line(failed > 0 ? 'failed' : 'ok', outcome.took, titleOf(file), `  ${passed} passed, ${failed} failed`);
    if (failed > 0 && !this.#ending.aborted) console.log(`${readLog(outcome.log)}\n`);
    return outcome;
  }

  async #playAgain(file, first) {
    if (this.#ending.aborted || this.#strict) return first;
    console.log(`  once more, alone: ${titleOf(file)}`);
    const second = await this.#jest(file, 'again.log');
    const failedAgain = second.failed > 0;
    line(
      failedAgain ? 'FAILED' : 'unsteady',
      second.took,
      titleOf(file),
      `  ${second.passed} passed, ${second.failed} failed`,
    );
    console.log(`${readLog(second.log)}\n`);
    if (!failedAgain) {
      this.#unsteady.push(titleOf(file));
      this.#record.unsteady(file);
    }
    return second;
  }

  async #jest(file, logEnding) {
    const { path, needs, parts = needs, alternative = '' } = file;
    const name = join(results, 'files', titleOf(file).replace('.test.ts', '').replaceAll(/[/ ]/g, '-'));
    const log = `${name}.${logEnding}`;
    const began = performance.now();
    const outcome = await this.#play(['--selectProjects', 'real', '--runInBand', '--runTestsByPath', path], {
      report: `${name}.json`,
      log,
      env: { ...this.#env, SPOTALIS_TEST_PARTS: parts.join(' '), SPOTALIS_TEST_WITH: alternative },
      ending: this.#ending,
    });
    return { ...outcome, took: rounded((performance.now() - began) / 1000), log };
  }
}

function readLog(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd() : '';
}
