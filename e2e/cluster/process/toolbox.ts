import { createHash } from 'node:crypto';
import { cpSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir } from '../cache.ts';
import { unpackDebianPackages } from './debian.ts';
import { withLock } from './lock.ts';
import { run } from './run.ts';

/** What builds images and what a node runs containers and Services with. */
const PACKAGES = [
  'buildah',
  'conntrack',
  'containerd',
  'containernetworking-plugins',
  'iproute2',
  'iptables',
  'runc',
];
const FETCH_TIMEOUT_MS = 10 * 60_000;

/** Thrown when the packages cannot be had; trying again helps once Debian's archive can be reached. */
class ToolboxMissing extends Error {
  readonly code = 'TOOLBOX_MISSING';
}

/** Programs of Debian that this machine need not have: a tree that is laid over /usr, for those who run in it. */
export class Toolbox {
  readonly #usr: string;

  constructor(home: string) {
    this.#usr = join(home, 'usr');
  }

  /** To be run by a shell in a mount namespace of its own: from then on the programs are where they belong. */
  get mountCommand(): string {
    return `mount -t overlay overlay -o lowerdir='${this.#usr}':/usr /usr`;
  }

  /** Runs a program with the tree laid over /usr, for it alone; what it writes to /var/lib is gone with it. */
  async run(
    command: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<string> {
    const script = `${this.mountCommand}; mount -t tmpfs tmpfs /var/lib; exec "$@"`;
    const done = await run('unshare', ['--mount', 'sh', '-ec', script, 'sh', command, ...args], env);
    if (!done.ok) throw new Error(`${command} ${args.join(' ')} failed: ${done.stderr.trim()}`);
    return done.stdout.trim();
  }
}

/** From the cache, or unpacked into it: nothing is installed. Needs root to be used, not to be fetched. */
export async function prepareToolbox(report: (line: string) => void): Promise<Toolbox> {
  const digest = createHash('sha256').update(PACKAGES.join()).digest('hex').slice(0, 8);
  const home = join(cacheDir(), `toolbox-${digest}`);
  const fetch = async () => {
    if (existsSync(home)) return;
    report('unpacking containerd, runc, iptables and buildah into the cache (nothing is installed)');
    const result = await unpackDebianPackages(PACKAGES, home, (tree) => Promise.resolve(arrange(tree)));
    if (!result.ok)
      throw new ToolboxMissing(
        `containerd, runc and buildah are needed, and ${result.reason}: get a network, once`,
      );
  };
  const waiting = (pid: number) => report(`containerd: waiting for process ${pid}, which is fetching it`);
  await withLock(`${home}.lock`, fetch, waiting, FETCH_TIMEOUT_MS);
  return new Toolbox(home);
}

/** All under usr, as the system has it, and the names that Debian's alternatives would give. */
function arrange(tree: string): void {
  for (const name of ['bin', 'sbin', 'lib']) {
    const from = join(tree, name);
    if (!existsSync(from)) continue;
    cpSync(from, join(tree, 'usr', name), { recursive: true, verbatimSymlinks: true });
    rmSync(from, { recursive: true });
  }
  for (const family of ['iptables', 'ip6tables'])
    for (const verb of ['', '-save', '-restore'])
      symlinkSync('xtables-nft-multi', join(tree, 'usr/sbin', `${family}${verb}`));
}
