import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { lineProgress } from '../binaries/progress.ts';
import { cacheDir } from '../cache.ts';
import { unpackDebianPackages } from '../process/debian.ts';
import { mustBeDeclared } from '../process/declared.ts';
import { withLock } from '../process/lock.ts';
import { findProgram, isProgram } from '../process/path.ts';
import { run } from '../process/run.ts';
import { alternative } from '../versions.ts';
import { findOtherRedis, isOtherRedis } from './others.ts';

export interface RedisProgram {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `cluster-port` came with 7. */
const LEAST_MAJOR = 7;
const FETCH_TIMEOUT_MS = 5 * 60_000;

/** Thrown when no redis-server was found or could be fetched; trying again helps once there is one, or a network. */
class RedisNotFound extends Error {
  readonly code = 'REDIS_NOT_FOUND';

  constructor(reason: string) {
    super(
      `redis-server ${LEAST_MAJOR} or later is needed and ${reason}: install it (Debian: apt-get install redis-server) or put it on PATH`,
    );
  }
}

/** From PATH, from the cache, or unpacked into the cache from the Debian package: nothing is installed. */
export async function findRedis({ report }: { report: (line: string) => void }): Promise<RedisProgram> {
  mustBeDeclared('redis');
  const other = alternative();
  if (isOtherRedis(other)) return { command: await findOtherRedis(other, report), env: {} };
  const installed = findProgram('redis-server');
  if (installed && (await majorVersion({ command: installed, env: {} })) >= LEAST_MAJOR) {
    return { command: installed, env: {} };
  }
  const home = join(cacheDir(), 'redis');
  const cached = unpacked(home);
  if (isProgram(cached.command)) return cached;
  const fetch = async () => {
    if (!isProgram(cached.command)) await fetchRedis(home, report);
    return cached;
  };
  const waiting = (pid: number) => report(`redis-server: waiting for process ${pid}, which is fetching it`);
  return withLock(`${home}.lock`, fetch, waiting, FETCH_TIMEOUT_MS);
}

async function fetchRedis(home: string, report: (line: string) => void): Promise<void> {
  report('redis-server is not on PATH: unpacking the Debian package into the cache (nothing is installed)');
  const fetch = () =>
    unpackDebianPackages(['redis-tools'], home, async (tree) => {
      // The server is a link in the package redis-server, to this program of redis-tools, which goes by its name.
      renameSync(join(tree, 'usr/bin/redis-check-rdb'), join(tree, 'usr/bin/redis-server'));
      const version = await majorVersion(unpacked(tree));
      if (version < LEAST_MAJOR)
        throw new RedisNotFound(`the packaged version is ${version || 'one that does not run'}`);
    });
  const result = await lineProgress(report).during('fetching redis-server', fetch);
  if (!result.ok) throw new RedisNotFound(result.reason);
  report(`redis-server is in ${home}`);
}

function unpacked(home: string): RedisProgram {
  const multiarch = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const libraries = [join(home, 'usr/lib', multiarch), join(home, 'lib', multiarch), join(home, 'usr/lib')];
  const inherited = process.env['LD_LIBRARY_PATH'];
  return {
    command: join(home, 'usr/bin/redis-server'),
    env: { LD_LIBRARY_PATH: [...libraries, ...(inherited ? [inherited] : [])].join(':') },
  };
}

async function majorVersion({ command, env }: RedisProgram): Promise<number> {
  const { stdout } = await run(command, ['--version'], env);
  return Number(/v=(\d+)\./.exec(stdout)?.[1] ?? 0);
}
