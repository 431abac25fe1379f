import { cacheDir } from '../cache.ts';
import { findProgram } from '../process/path.ts';
import { remove } from '../process/removal.ts';
import { run } from '../process/run.ts';
import { cgroupPaths, makeCgroups } from './cgroup.ts';

/** Each of them has to work on this machine, tried in namespaces of their own. */
const TRIALS = [
  { what: 'overlay mounts', script: 'mount -t overlay overlay -o lowerdir=/usr/bin:/usr/lib /mnt' },
  { what: 'a /proc of its own', script: 'test -w /proc/sys/net/ipv4/ip_forward' },
  { what: 'the kernel module br_netfilter', script: 'test -e /proc/sys/net/bridge/bridge-nf-call-iptables' },
  { what: 'the kernel settings of keys', script: 'test -e /proc/sys/kernel/keys/root_maxkeys' },
];
const NAMESPACES = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];

/** Why no kubelet with real containers can run on this machine, in one line; undefined where one can. */
export async function whyNoRealNode(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'it takes Linux';
  if (process.getuid?.() !== 0) return 'it takes root';
  // Of which the node has its own.
  if (cacheDir().startsWith('/var/lib/')) return 'it takes a cache outside of /var/lib (SPOTALIS_CACHE_DIR)';
  const lacking = ['apt-get', 'dpkg-deb', 'unshare', 'nsenter', 'setpriv'].find((name) => !findProgram(name));
  if (lacking !== undefined) return `it takes ${lacking}`;
  const entered = await run('unshare', [...NAMESPACES, 'true']);
  if (!entered.ok) return `it takes namespaces: ${entered.stderr.trim()}`;
  for (const { what, script } of TRIALS) {
    const tried = await run('unshare', [...NAMESPACES, 'sh', '-c', script]);
    if (!tried.ok) return `it takes ${what}: ${tried.stderr.trim() || 'not there'}`;
  }
  return whyNoCgroup();
}

function whyNoCgroup(): string | undefined {
  const paths = cgroupPaths(`spotalis-trial-${process.pid}`);
  try {
    makeCgroups(paths);
    return paths.length > 0 ? undefined : 'it takes cgroups';
  } catch {
    return 'it takes cgroups that can be written to';
  } finally {
    for (const path of paths) remove(path);
  }
}
