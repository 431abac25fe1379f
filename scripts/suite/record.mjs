import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { titleOf } from './files.mjs';

/** Where a run leaves what it saw. */
export const results = '.results';

const git = (...args) => {
  try {
    return execFileSync('git', args, { encoding: 'utf8' }).trim();
  } catch {
    // Somebody may test an archive of the sources.
    return '';
  }
};

/** How long each step, program and file of tests took, and what came of it; kept with the commit it was of. */
export class Record {
  #steps = [];
  #files = [];
  #programs = [];
  #began = Date.now();

  step(title, seconds, { passed, failed }) {
    this.#steps.push({ title, seconds, passed, failed });
  }

  /** Something that was fetched or built for a part: it was not in the cache. */
  program(part, { what, seconds }) {
    this.#programs.push({ part, what, seconds });
  }

  /** Of a file that was played more than once, its first time. */
  file({ path, alternative }, seconds, { passed, failed }) {
    this.#files.push({ path, alternative, seconds, passed, failed, unsteady: false });
  }

  unsteady(played) {
    for (const file of this.#files) if (titleOf(file) === titleOf(played)) file.unsteady = true;
  }

  get seconds() {
    return rounded((Date.now() - this.#began) / 1000);
  }

  /** A line for each step, for what was fetched or built, and for the files that took longest. */
  table(most = 10) {
    const row = ({ seconds }, name) => `  ${seconds.toFixed(1).padStart(7)} s  ${name}`;
    const slowest = this.#files.toSorted((one, other) => other.seconds - one.seconds).slice(0, most);
    return [
      'Steps:',
      ...this.#steps.map((step) => row(step, step.title)),
      row(this, 'all'),
      this.#programs.length === 0 ? 'Programs: all that was needed was in the cache' : 'Programs:',
      ...this.#programs.map((program) => row(program, `${program.part}: ${program.what}`)),
      ...(slowest.length === 0 ? [] : [`Slowest of ${this.#files.length} files on real parts:`]),
      ...slowest.map((file) => row(file, titleOf(file))),
    ].join('\n');
  }

  write() {
    mkdirSync(results, { recursive: true });
    const commit = git('rev-parse', 'HEAD');
    const record = {
      commit,
      changed: git('status', '--porcelain') !== '',
      began: new Date(this.#began).toISOString(),
      seconds: this.seconds,
      cores: cpus().length,
      steps: this.#steps,
      programs: this.#programs,
      files: this.#files,
    };
    writeFileSync(`${results}/record.json`, `${JSON.stringify(record, null, 2)}\n`);
  }
}

export const rounded = (seconds) => Math.round(seconds * 10) / 10;
