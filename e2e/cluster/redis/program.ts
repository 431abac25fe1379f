import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir } from '../cache.ts';
import { withLock } from '../process/lock.ts';
import { findProgram, isProgram } from '../process/path.ts';
import { run } from '../process/run.ts';

export interface RedisProgram {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `cluster-port` came with 7. */
const LEAST_MAJOR = 7;
const FETCH_TIMEOUT_MS = 5 * 60_000;

export class RedisNotFound extends Error {
  readonly code = 'REDIS_NOT_FOUND';
}

/** From PATH, from the cache, or unpacked into the cache from the Debian package: nothing is installed. */
export async function findRedis({ report }: { report: (line: string) => void }): Promise<RedisProgram> {
  const installed = findProgram('redis-server');
  if (installed && (await majorVersion({ command: installed, env: {} })) >= LEAST_MAJOR)
    return { command: installed, env: {} };
  const home = join(cacheDir(), 'redis');
  const cached = unpacked(home);
  if (isProgram(cached.command)) return cached;
  return withLock(
    `${home}.lock`,
    () => (isProgram(cached.command) ? Promise.resolve(cached) : fetchPackages(home, report)),
    (pid) => report(`redis-server: waiting for process ${pid}, which is fetching it`),
    FETCH_TIMEOUT_MS,
  );
}

async function fetchPackages(home: string, report: (line: string) => void): Promise<RedisProgram> {
  if (!findProgram('apt-get') || !findProgram('dpkg-deb'))
    throw notFound('this system has no apt-get to fetch it with');
  report('redis-server is not on PATH: unpacking the Debian package into the cache (nothing is installed)');
  mkdirSync(cacheDir(), { recursive: true });
  const work = mkdtempSync(join(cacheDir(), 'redis-fetch-'));
  try {
    const archives = join(work, 'archives');
    const tree = join(work, 'tree');
    for (const directory of [join(work, 'lists', 'partial'), join(archives, 'partial'), tree])
      mkdirSync(directory, { recursive: true });
    const apt = (...args: string[]) =>
      run('apt-get', [...privateState(work, archives), ...args], { LC_ALL: 'C' });
    // One foreign source that does not answer makes `update` fail although Debian's own lists came.
    const updated = await apt('update');
    // With the libraries that this system lacks; `--reinstall` fetches it where it is installed but hidden, too.
    const fetched = await apt(
      'install',
      '--download-only',
      '--reinstall',
      '--no-install-recommends',
      '-y',
      'redis-tools',
    );
    const packages = readdirSync(archives).filter((name) => name.endsWith('.deb'));
    if (!fetched.ok || packages.length === 0)
      throw notFound(`apt-get could not fetch redis-tools (${lastLine(fetched.stderr || updated.stderr)})`);
    for (const name of packages) {
      const unpack = await run('dpkg-deb', ['-x', join(archives, name), tree]);
      if (!unpack.ok) throw notFound(`${name} does not unpack (${lastLine(unpack.stderr)})`);
    }
    // The server is a link in the package redis-server, to this program of redis-tools, which goes by its name.
    renameSync(join(tree, 'usr/bin/redis-check-rdb'), join(tree, 'usr/bin/redis-server'));
    const version = await majorVersion(unpacked(tree));
    if (version < LEAST_MAJOR) throw notFound(`the packaged version is ${version || 'not one that runs'}`);
    rmSync(home, { recursive: true, force: true });
    renameSync(tree, home);
    report(`redis-server ${version} is in ${home}`);
    return unpacked(home);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function unpacked(home: string): RedisProgram {
  const libraries = [
    join(home, 'usr/lib', multiarch()),
    join(home, 'lib', multiarch()),
    join(home, 'usr/lib'),
  ];
  const inherited = process.env['LD_LIBRARY_PATH'];
  return {
    command: join(home, 'usr/bin/redis-server'),
    env: { LD_LIBRARY_PATH: [...libraries, ...(inherited ? [inherited] : [])].join(':') },
  };
}

/** Lists, archives and locks in directories of our own: works without root and leaves the system's apt alone. */
function privateState(work: string, archives: string): string[] {
  const options = {
    'Dir::State::lists': join(work, 'lists'),
    'Dir::Cache': work,
    'Dir::Cache::archives': archives,
    'Debug::NoLocking': '1',
    'APT::Sandbox::User': '',
    'Acquire::Retries': '1',
    'Acquire::http::Timeout': '15',
  };
  return Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

async function majorVersion({ command, env }: RedisProgram): Promise<number> {
  const { stdout } = await run(command, ['--version'], env);
  return Number(/v=(\d+)\./.exec(stdout)?.[1] ?? 0);
}

function multiarch(): string {
  return process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
}

function notFound(reason: string): RedisNotFound {
  return new RedisNotFound(
    `redis-server ${LEAST_MAJOR} or later is needed and ${reason}: install it (Debian: apt-get install redis-server) or put it on PATH`,
  );
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
