import { join } from 'node:path';
import { cacheDir } from '../cache.ts';
import { reasonOf } from '../process/failure.ts';
import { withLock } from '../process/lock.ts';
import { isProgram } from '../process/path.ts';
import { build } from './build.ts';
import { findGo, type GoToolchain } from './go.ts';
import { lineProgress } from './progress.ts';
import { cachedProgram, type OwnProgram } from './programs.ts';

/** Two cold builds, one after the other, on a slow machine. */
const LOCK_TIMEOUT_MS = 30 * 60_000;

/**
 * A program whose main package is ours, from the cache or built from its module; or why it cannot be had here. `beside`
 * puts other files next to it first, so that a program in the cache has them.
 */
export async function findOwnProgram(
  name: OwnProgram,
  report: (line: string) => void,
  beside: (go: GoToolchain) => Promise<void> = () => Promise.resolve(),
): Promise<{ readonly command: string } | { readonly missing: string }> {
  const command = cachedProgram(name);
  if (isProgram(command)) return { command };
  const progress = lineProgress(report);
  try {
    return await withLock(
      join(cacheDir(), 'bin', `${name}.lock`),
      async () => {
        if (isProgram(command)) return { command };
        const go = await findGo(progress);
        if ('missing' in go) return { missing: `there is no ${name}: ${go.missing}` };
        await progress.during(`building ${name}`, async () => {
          await beside(go);
          await build(name, command, go);
        });
        return { command };
      },
      (pid) => progress.say(`waiting for process ${pid}, which is building ${name}`),
      LOCK_TIMEOUT_MS,
    );
  } catch (error) {
    return { missing: `there is no ${name}: ${reasonOf(error)}` };
  }
}
