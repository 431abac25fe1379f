/**
 * Runs one of the project's commands on a machine that has Node and git and nothing else. Plain Node, no
 * dependencies: it brings the pinned pnpm, installs the workspace, and hands over to the pinned Node.
 * Everything it fetches goes to the cache directory; a second run needs no network.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { constants, homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unlessStamped } from './stamp.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const commands = {
  start: ['node', 'tour/main.ts'],
  test: ['node', 'scripts/test.mjs'],
  check: ['node', 'scripts/checks.mjs'],
  cluster: ['node', 'e2e/cluster/main.ts'],
  e2e: ['node', 'scripts/test.mjs', '--scenarios'],
  stress: ['node', 'scripts/stress.mjs'],
  bench: ['node', 'e2e/bench/main.ts'],
  docs: ['node', 'scripts/generate-docs.mjs'],
  format: ['biome', 'format', '--write', '.'],
};

class CannotGoOn extends Error {}

function say(line) {
  process.stderr.write(`spotalis: ${line}\n`);
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new CannotGoOn(
    `Node ${process.versions.node} is too old: install Node 20.19 or newer and run this again.`,
  );
}

function cacheDirectory() {
  const { SPOTALIS_CACHE_DIR, XDG_CACHE_HOME } = process.env;
  const directory = SPOTALIS_CACHE_DIR || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'spotalis');
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** Where tools that know the XDG directories put their own caches and state: not into the user's. */
function tidyEnvironment(cache) {
  return {
    XDG_CACHE_HOME: join(cache, 'xdg', 'cache'),
    XDG_DATA_HOME: join(cache, 'xdg', 'data'),
    XDG_STATE_HOME: join(cache, 'xdg', 'state'),
  };
}

/** Runs a step quietly; its output is shown only when it fails. */
function runStep(what, command, args, { cache, remedy }) {
  const began = Date.now();
  say(`${what} ...`);
  const done = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, ...tidyEnvironment(cache) },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  if (done.status !== 0) {
    process.stderr.write(
      `${done.stdout ?? ''}${done.stderr ?? ''}${done.error ? `${done.error.message}\n` : ''}`,
    );
    throw new CannotGoOn(`${what} failed. ${remedy}`);
  }
  say(`${what}: done in ${((Date.now() - began) / 1000).toFixed(1)} s`);
}

function bringPnpm(cache) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const home = join(cache, packageManager.replace('@', '-'));
  const bin = join(home, 'node_modules', '.bin', process.platform === 'win32' ? 'pnpm.cmd' : 'pnpm');
  if (!existsSync(bin)) {
    runStep(
      `installing ${packageManager} into ${home}`,
      'npm',
      [
        'install',
        '--prefix',
        home,
        '--cache',
        join(cache, 'npm'),
        '--no-audit',
        '--no-fund',
        '--loglevel=error',
        packageManager,
      ],
      { cache, remedy: 'Check that npm can reach its registry (npm ping), then run this again.' },
    );
  }
  return bin;
}

/** The lockfile and every manifest: while they are unchanged, so is node_modules. */
function installationFingerprint() {
  const manifests = spawnSync(
    'git',
    ['ls-files', '-co', '--exclude-standard', '*package.json', 'pnpm-*.yaml'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  const files = manifests.status === 0 ? manifests.stdout.split('\n').filter(Boolean).toSorted() : [];
  const hash = createHash('sha256');
  for (const file of new Set([...files, 'package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'])) {
    if (existsSync(join(root, file))) hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

function installWorkspace(cache, pnpm) {
  unlessStamped(join(root, 'node_modules', '.spotalis-installed'), installationFingerprint(), () =>
    runStep(
      'installing the workspace',
      pnpm,
      [
        'install',
        '--frozen-lockfile',
        '--prefer-offline',
        '--config.confirmModulesPurge=false',
        '--store-dir',
        join(cache, 'pnpm-store'),
      ],
      { cache, remedy: 'Check that the npm registry can be reached (npm ping), then run this again.' },
    ),
  );
}

/** Node 24 comes as a package on Linux; elsewhere the Node that runs this has to be 24 itself. */
function pinnedNode() {
  const packaged = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin');
  if (existsSync(packaged)) return packaged;
  if (Number(process.versions.node.split('.')[0]) >= 24) return dirname(process.execPath);
  throw new CannotGoOn(
    `no Node 24 package exists for ${process.platform}-${process.arch}: install Node 24 and run this again.`,
  );
}

function hand(over, args, { cache, pnpm }) {
  const path = [pinnedNode(), join(root, 'node_modules', '.bin'), dirname(pnpm), process.env.PATH].join(
    delimiter,
  );
  const [program, ...fixed] = over;
  const child = spawn(program, [...fixed, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...tidyEnvironment(cache),
      PATH: path,
      SPOTALIS_CACHE_DIR: cache,
      // The tests start the bundles on it, too: they are to run on the oldest Node that is promised.
      SPOTALIS_TEST_NODE: process.execPath,
      NODE_NO_WARNINGS: '1',
      TURBO_TELEMETRY_DISABLED: '1',
      TURBO_CONFIG_DIR_PATH: join(cache, 'turbo'),
    },
    shell: process.platform === 'win32',
  });
  // The terminal sends Ctrl-C to the whole group; the command cleans up, so wait for it.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGHUP'));
  child.on('error', (error) => {
    say(error.message);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

try {
  requireNode();
  const [name, ...args] = process.argv.slice(2);
  const command = commands[name];
  if (!command)
    throw new CannotGoOn(`unknown command '${name ?? ''}': use one of ${Object.keys(commands).join(', ')}.`);
  const cache = cacheDirectory();
  const pnpm = bringPnpm(cache);
  installWorkspace(cache, pnpm);
  hand(command, args, { cache, pnpm });
} catch (error) {
  if (!(error instanceof CannotGoOn)) throw error;
  say(error.message);
  process.exitCode = 1;
}
