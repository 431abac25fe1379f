import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { cacheDir } from '../cache.ts';
import { unpackDebianPackages } from '../process/debian.ts';
import { findProgram, isProgram } from '../process/path.ts';
import { run } from '../process/run.ts';
import { VERSIONS } from '../versions.ts';
import type { Progress } from './progress.ts';

/** A `go` command, and what it needs in its environment to be the pinned version or a later one. */
export interface GoToolchain {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

type Toolchain = GoToolchain | { readonly missing: string };

/** From this version on, `go` fetches another version of itself when it is asked to. */
const SWITCHES_SINCE = [1, 21];

/** On PATH, where the official archive puts it, or, if need be, fetched by the older `go` that Debian has. */
export async function findGo(progress: Progress): Promise<Toolchain> {
  const installed = findProgram('go', ['/usr/local/go/bin']);
  if (installed) {
    const version = await versionOf(installed);
    if (atLeast(version, numbers(VERSIONS.go)))
      return { command: installed, env: { ...caches(), GOTOOLCHAIN: 'local' } };
    if (atLeast(version, SWITCHES_SINCE))
      return { command: installed, env: { ...caches(), GOTOOLCHAIN: `go${VERSIONS.go}` } };
  }
  const toolchain = toolchainModule();
  if (isProgram(toolchain.command)) return toolchain;
  const why = installed ? 'the installed one is too old' : 'there is none';
  return progress.during(`fetching Go ${VERSIONS.go}, because ${why}`, () =>
    installed ? fetchToolchain(installed) : withDebianGo(fetchToolchain),
  );
}

/** Everything that Go writes stays in our cache. What the user told it, by `go env -w` for example, is respected. */
function caches(): Record<string, string> {
  const { GOENV, XDG_CONFIG_HOME = join(homedir(), '.config') } = process.env;
  return {
    GOENV: GOENV ?? join(XDG_CONFIG_HOME, 'go', 'env'),
    // For its telemetry's counters.
    XDG_CONFIG_HOME: join(cacheDir(), 'go', 'config'),
    GOPATH: join(cacheDir(), 'go'),
    GOCACHE: join(cacheDir(), 'go-build'),
    GOFLAGS: '-modcacherw',
    CGO_ENABLED: '0',
  };
}

const goArch = () => (process.arch === 'x64' ? 'amd64' : process.arch);
const TOOLCHAIN = () => `golang.org/toolchain@v0.0.1-go${VERSIONS.go}.linux-${goArch()}`;

/** Go publishes itself as a module, which any `go` with modules can fetch and verify. */
function toolchainModule(): GoToolchain {
  const root = join(cacheDir(), 'go', 'pkg', 'mod', TOOLCHAIN());
  return { command: join(root, 'bin', 'go'), env: { ...caches(), GOROOT: root, GOTOOLCHAIN: 'local' } };
}

async function fetchToolchain(old: string): Promise<Toolchain> {
  const toolchain = toolchainModule();
  const fetched = await run(old, ['mod', 'download', TOOLCHAIN()], caches(), cacheDir());
  if (!fetched.ok)
    return { missing: `Go ${VERSIONS.go} cannot be fetched (${fetched.stderr.trim().split('\n').at(-1)})` };
  // A module keeps no permissions.
  const root = join(cacheDir(), 'go', 'pkg', 'mod', TOOLCHAIN());
  for (const dir of [join(root, 'pkg', 'tool', `linux_${goArch()}`), join(root, 'bin')]) {
    for (const name of readdirSync(dir)) chmodSync(join(dir, name), 0o755);
  }
  return toolchain;
}

/** Debian's own `go`, too old to build with, for as long as it takes. */
async function withDebianGo(fetch: (go: string) => Promise<Toolchain>): Promise<Toolchain> {
  const home = join(cacheDir(), 'debian-go');
  const result = await unpackDebianPackages(['golang-go'], home, () => Promise.resolve());
  if (!result.ok) return { missing: `there is no Go, and ${result.reason}` };
  try {
    const lib = join(home, 'usr/lib');
    const root = readdirSync(lib).find((name) => /^go-\d/.test(name));
    if (root === undefined) return { missing: "there is no Go, and Debian's package holds none" };
    return await fetch(join(lib, root, 'bin', 'go'));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function versionOf(go: string): Promise<number[]> {
  const { stdout } = await run(go, ['version'], { ...caches(), GOTOOLCHAIN: 'local' });
  return numbers(/go(\d+(?:\.\d+)*)/.exec(stdout)?.[1] ?? '0');
}

const numbers = (version: string) => version.split('.').map(Number);

export function atLeast(version: readonly number[], wanted: readonly number[]): boolean {
  const different = wanted.findIndex((part, index) => part !== (version[index] ?? 0));
  return different < 0 || (version[different] ?? 0) > (wanted[different] ?? 0);
}
