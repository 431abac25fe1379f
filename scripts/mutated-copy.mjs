/** Plays mutations in a copy of the sources: the checkout stays as it is. */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** Made from sources: a copy has no use for it. */
const built = new Set(['dist', '.turbo']);

/** Most mutations are noticed in the first few cases of a property; the others get as many as the tests themselves. */
const fewCases = '100';

/** Which tests a mutation is for, in the words of jest. */
function selection(tests) {
  if (tests !== 'redis') return ['--selectProjects', 'unit', '--testPathPatterns', tests];
  // One server will do: the others differ in how it is reached.
  const oneServer = ['--testNamePattern', '^the ledger in one Redis'];
  const scripts = ['--testPathPatterns', 'ledger/src/redis/redis-ledger', ...oneServer];
  return ['--selectProjects', 'real', '--runInBand', ...scripts];
}

export class MutatedCopy {
  #root;
  #sources;
  #copy = mkdtempSync(join(tmpdir(), 'spotalis-mutations-'));

  /** `sources` are the texts by path as they are without mutation. */
  constructor(root, sources) {
    this.#root = root;
    this.#sources = sources;
    // What is not mutated is shared with the checkout.
    const shared = ['node_modules', 'docs', 'scripts', 'e2e/cluster'];
    mkdirSync(join(this.#copy, 'e2e'));
    for (const name of shared) symlinkSync(join(root, name), join(this.#copy, name));
    for (const name of ['package.json', 'jest.config.mjs']) cpSync(join(root, name), join(this.#copy, name));
    for (const name of readdirSync(join(root, 'packages'))) {
      cpSync(join(root, 'packages', name), join(this.#copy, 'packages', name), {
        recursive: true,
        // Links inside are relative: in the copy they lead to the copies.
        verbatimSymlinks: true,
        filter: (source) => !built.has(basename(source)),
      });
    }
  }

  /** Which tests go red by the mutation, and what is wrong; nothing is when they noticed. */
  async try({ because, changed, tests }) {
    try {
      this.#write(changed);
      let report = await this.redTests(tests, { few: true });
      if (report.red.length === 0 && report.broken === undefined) report = await this.redTests(tests);
      const { red, broken } = report;
      // A file that cannot even be loaded says that the mutation is no program, not that a test noticed.
      if (broken !== undefined) return { problem: `a test file could not run: ${broken.slice(0, 500)}`, red };
      if (red.length === 0) return { problem: `no test noticed that ${because}`, red };
      return { red };
    } catch (error) {
      return { problem: error.message, red: [] };
    } finally {
      this.#write([...changed.keys()].map((path) => [path, this.#sources.get(path)]));
    }
  }

  /** Which tests are red, and why a file could not run; one is enough to end the run. */
  redTests(tests, { few = false } = {}) {
    const report = join(this.#copy, 'red-tests.json');
    rmSync(report, { force: true });
    const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--silent', '--bail'];
    const reporter = `--reporters=${join(this.#root, 'scripts', 'red-tests.mjs')}`;
    const child = spawn(process.execPath, [...jest, reporter, ...selection(tests)], {
      cwd: this.#copy,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        ...(few && { SPOTALIS_PROPERTY_RUNS: fewCases }),
        SPOTALIS_RED_TESTS: report,
        NODE_NO_WARNINGS: '1',
      },
    });
    const end = () => child.kill();
    process.on('exit', end);
    let output = '';
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', () => {
        process.off('exit', end);
        if (!existsSync(report)) reject(new Error(`jest wrote no report:\n${output.slice(-2_000)}`));
        else resolve(JSON.parse(readFileSync(report, 'utf8')));
      });
    });
  }

  remove() {
    rmSync(this.#copy, { recursive: true, force: true });
  }

  #write(texts) {
    for (const [path, text] of texts) writeFileSync(join(this.#copy, path), text);
  }
}
