import { join, resolve } from 'node:path';
import { cacheDir } from '../cache.ts';
import { mustBeDeclared } from '../process/declared.ts';
import { withLock } from '../process/lock.ts';
import { findProgram, isProgram } from '../process/path.ts';
import { run } from '../process/run.ts';
import { build } from './build.ts';
import { download, OFFICIAL_SITES, type ReleaseSites } from './download.ts';
import { findGo } from './go.ts';
import { lineProgress, type Progress, terminalProgress } from './progress.ts';
import {
  cachedProgram,
  NODE_PROGRAM_NAMES,
  type NodePrograms,
  PROGRAM_NAMES,
  type ProgramName,
  type Programs,
  projectOf,
} from './programs.ts';
import { reasonOf } from '../process/failure.ts';
import { alternative, majorOf } from '../versions.ts';

export interface PrepareOptions {
  /** Where all five programs are; SPOTALIS_BINARIES without it. */
  readonly dir?: string | undefined;
  /** Gets every line of progress; the terminal does without it. */
  readonly report?: ((line: string) => void) | undefined;
  readonly sites?: ReleaseSites;
}

/** Thrown when the control plane cannot be found, fetched or built; its message says what would help. */
class BinariesMissing extends Error {
  readonly code = 'BINARIES_MISSING';
}

/** Two people's cold builds, one after the other, on a slow machine. */
const LOCK_TIMEOUT_MS = 60 * 60_000;

/**
 * Finds etcd, the control plane and KWOK: in the directory the user names, in the cache, as an official
 * release, or by building them, in this order. What was fetched or built stays in the cache.
 */
export async function prepareBinaries(options: PrepareOptions = {}): Promise<Programs> {
  mustBeDeclared('control-plane');
  const where = await prepare(PROGRAM_NAMES, options);
  return {
    etcd: where('etcd'),
    'kube-apiserver': where('kube-apiserver'),
    'kube-controller-manager': where('kube-controller-manager'),
    'kube-scheduler': where('kube-scheduler'),
    kwok: where('kwok'),
  };
}

/** The same for what only a real node takes. */
export async function prepareNodeBinaries(options: PrepareOptions = {}): Promise<NodePrograms> {
  mustBeDeclared('real-node');
  const where = await prepare(NODE_PROGRAM_NAMES, options);
  return { kubelet: where('kubelet'), 'kube-proxy': where('kube-proxy') };
}

/** The same for the helm that installs charts. */
export async function prepareHelm(options: PrepareOptions = {}): Promise<string> {
  mustBeDeclared('helm');
  const { dir = process.env['SPOTALIS_BINARIES'] } = options;
  // A directory for clusters need not hold it.
  const installed = findProgram('helm', dir ? [resolve(dir)] : []);
  if (installed !== undefined && (await isOurHelm(installed))) return installed;
  return (await prepare(['helm'], { ...options, dir: '' }))('helm');
}

/** The kubectl that people have, or one of the control plane's version. */
export async function prepareKubectl(options: PrepareOptions = {}): Promise<string> {
  mustBeDeclared('kubectl');
  const { dir = process.env['SPOTALIS_BINARIES'] } = options;
  const installed = findProgram('kubectl', dir ? [resolve(dir)] : []);
  return installed ?? (await prepare(['kubectl'], { ...options, dir: '' }))('kubectl');
}

/** Its major version is enough. */
async function isOurHelm(command: string): Promise<boolean> {
  const { ok, stdout } = await run(command, ['version', '--template', '{{.Version}}']);
  return ok && stdout.startsWith(`v${majorOf('helm')}.`);
}

async function prepare(
  names: readonly ProgramName[],
  options: PrepareOptions,
): Promise<(name: ProgramName) => string> {
  const { dir = process.env['SPOTALIS_BINARIES'], report, sites = OFFICIAL_SITES } = options;
  // It holds the usual versions.
  if (dir && alternative() === undefined) return fromDirectory(resolve(dir), names);
  const missingPrograms = () => names.filter((name) => !isProgram(cachedProgram(name)));
  if (missingPrograms().length > 0) {
    const progress = report ? lineProgress(report) : terminalProgress();
    const waiting = (pid: number) =>
      progress.say(`waiting for process ${pid}, which is preparing the control plane`);
    await withLock(
      join(cacheDir(), 'bin', 'lock'),
      () => obtain(missingPrograms(), progress, sites),
      waiting,
      LOCK_TIMEOUT_MS,
    );
  }
  return cachedProgram;
}

async function obtain(
  missing: readonly ProgramName[],
  progress: Progress,
  sites: ReleaseSites,
): Promise<void> {
  if (missing.length === 0) return;
  progress.say(`the test cluster needs ${missing.join(', ')}; they go to ${join(cacheDir(), 'bin')}`);
  const left = await downloadAll(missing, progress, sites);
  if (left.length === 0) return;
  const go = await findGo(progress);
  if ('missing' in go) {
    throw new BinariesMissing(
      `${left.join(', ')} cannot be downloaded, and not built either: ${go.missing}; install Go, or name a directory that holds the programs (--binaries or SPOTALIS_BINARIES)`,
    );
  }
  progress.say(
    `building ${left.length} programs from source; the control plane takes some 6 minutes on two idle cores, once`,
  );
  for (const [index, program] of left.entries()) {
    await progress.during(`building ${program} (${index + 1}/${left.length})`, () =>
      build(program, cachedProgram(program), go),
    );
  }
}

/** What is left to build. A project whose first file does not come is not asked for its others. */
async function downloadAll(
  missing: readonly ProgramName[],
  progress: Progress,
  sites: ReleaseSites,
): Promise<ProgramName[]> {
  const left: ProgramName[] = [];
  if (process.platform !== 'linux') return [...missing];
  const closed = new Set<string>();
  for (const [index, program] of missing.entries()) {
    const project = projectOf(program);
    if (closed.has(project)) {
      left.push(program);
      continue;
    }
    try {
      await progress.during(`downloading ${program} (${index + 1}/${missing.length})`, () =>
        download(program, cachedProgram(program), sites),
      );
    } catch (error) {
      progress.say(`no download of ${project}: ${reasonOf(error)}`);
      closed.add(project);
      left.push(program);
    }
  }
  return left;
}

function fromDirectory(dir: string, names: readonly ProgramName[]): (name: ProgramName) => string {
  const missing = names.filter((name) => !isProgram(join(dir, name)));
  if (missing.length > 0)
    throw new BinariesMissing(`${dir} lacks ${missing.join(', ')}: it must hold ${names.join(', ')}`);
  return (name) => join(dir, name);
}
