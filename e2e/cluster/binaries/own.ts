import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDir } from '../cache.ts';
import { reasonOf } from '../process/failure.ts';
import { mustBeDeclared } from '../process/declared.ts';
import { withLock } from '../process/lock.ts';
import { isProgram } from '../process/path.ts';
import { run } from '../process/run.ts';
import { build, moduleDirOf } from './build.ts';
import { findGo, type GoToolchain } from './go.ts';
import { lineProgress } from './progress.ts';
import { cachedProgram, type OwnProgram } from './programs.ts';

/** Two cold builds, one after the other, on a slow machine. */
const LOCK_TIMEOUT_MS = 30 * 60_000;

export interface OwnProgramFound {
  readonly command: string;
  /** Holds its CustomResourceDefinitions, where it has some. */
  readonly crdDir: string;
}

/** The module that each is made of, and where that keeps its CustomResourceDefinitions. */
const LIBRARIES: Readonly<
  Record<OwnProgram, { readonly module: string; readonly crdDirs: readonly string[] }>
> = {
  karpenter: { module: 'sigs.k8s.io/karpenter', crdDirs: ['pkg/apis/crds', 'kwok/apis/crds'] },
  'cert-manager': { module: 'github.com/cert-manager/cert-manager', crdDirs: ['deploy/crds'] },
  'metrics-server': { module: 'sigs.k8s.io/metrics-server', crdDirs: [] },
};

/** A program that nobody publishes as we need it, from the cache or built from its module; or why it cannot be had here. */
export async function findOwnProgram(
  name: OwnProgram,
  report: (line: string) => void,
): Promise<OwnProgramFound | { readonly missing: string }> {
  mustBeDeclared(name);
  const command = cachedProgram(name);
  const found = { command, crdDir: join(dirname(command), 'crds') };
  if (isProgram(command)) return found;
  const progress = lineProgress(report);
  try {
    return await withLock(
      join(cacheDir(), 'bin', `${name}.lock`),
      async () => {
        if (isProgram(command)) return found;
        const go = await findGo(progress);
        if ('missing' in go) return { missing: `there is no ${name}: ${go.missing}` };
        await progress.during(`building ${name}`, async () => {
          await copyDefinitions(name, found.crdDir, go);
          // The last thing that comes, so that a program in the cache has its definitions beside it.
          await build(name, command, go);
        });
        return found;
      },
      (pid) => progress.say(`waiting for process ${pid}, which is building ${name}`),
      LOCK_TIMEOUT_MS,
    );
  } catch (error) {
    return { missing: `there is no ${name}: ${reasonOf(error)}` };
  }
}

async function copyDefinitions(name: OwnProgram, target: string, go: GoToolchain): Promise<void> {
  const { module, crdDirs } = LIBRARIES[name];
  if (crdDirs.length === 0) return;
  const dir = moduleDirOf(name);
  const download = await run(go.command, ['mod', 'download', module], go.env, dir);
  if (!download.ok) throw new Error(download.stderr.trim());
  const { stdout } = await run(go.command, ['list', '-m', '-f', '{{.Dir}}', module], go.env, dir);
  mkdirSync(target, { recursive: true });
  for (const part of crdDirs) {
    const source = join(stdout.trim(), part);
    for (const file of readdirSync(source).filter((each) => each.endsWith('.yaml')))
      copyFileSync(join(source, file), join(target, file));
  }
}
