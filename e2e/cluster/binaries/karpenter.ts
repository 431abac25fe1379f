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
import { cachedProgram } from './programs.ts';

export interface KarpenterProgram {
  readonly command: string;
  /** Holds its CustomResourceDefinitions. */
  readonly crdDir: string;
}

const MODULE = 'sigs.k8s.io/karpenter';
/** Two cold builds, one after the other, on a slow machine. */
const LOCK_TIMEOUT_MS = 30 * 60_000;

/** Karpenter with its KWOK provider, from the cache or built from its module; or why it cannot be had here. */
export async function findKarpenter(
  report: (line: string) => void,
): Promise<KarpenterProgram | { readonly missing: string }> {
  mustBeDeclared('karpenter');
  const command = cachedProgram('karpenter');
  const found = { command, crdDir: join(dirname(command), 'crds') };
  if (isProgram(command)) return found;
  const progress = lineProgress(report);
  try {
    return await withLock(
      join(cacheDir(), 'bin', 'karpenter.lock'),
      async () => {
        if (isProgram(command)) return found;
        const go = await findGo(progress);
        if ('missing' in go) return { missing: `there is no Karpenter: ${go.missing}` };
        await progress.during('building Karpenter', async () => {
          await copyDefinitions(found.crdDir, go);
          // The last thing that comes, so that a program in the cache has its definitions beside it.
          await build('karpenter', command, go);
        });
        return found;
      },
      (pid) => progress.say(`waiting for process ${pid}, which is building Karpenter`),
      LOCK_TIMEOUT_MS,
    );
  } catch (error) {
    return { missing: `there is no Karpenter: ${reasonOf(error)}` };
  }
}

async function copyDefinitions(target: string, go: GoToolchain): Promise<void> {
  const dir = moduleDirOf('karpenter');
  const download = await run(go.command, ['mod', 'download', MODULE], go.env, dir);
  if (!download.ok) throw new Error(download.stderr.trim());
  const { stdout } = await run(go.command, ['list', '-m', '-f', '{{.Dir}}', MODULE], go.env, dir);
  mkdirSync(target, { recursive: true });
  for (const part of ['pkg', 'kwok']) {
    const source = join(stdout.trim(), part, 'apis', 'crds');
    for (const name of readdirSync(source)) copyFileSync(join(source, name), join(target, name));
  }
}
