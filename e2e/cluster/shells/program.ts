import { join } from 'node:path';
import { lineProgress } from '../binaries/progress.ts';
import { cacheDir } from '../cache.ts';
import { unpackDebianPackages } from '../process/debian.ts';
import { mustBeDeclared } from '../process/declared.ts';
import { withLock } from '../process/lock.ts';
import { findProgram, isProgram } from '../process/path.ts';

export interface Shell {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  /** For a `.zshenv`: where it finds the rest of itself. Empty where it is installed. */
  readonly prologue: string;
}

export interface Shells {
  readonly zsh: Shell;
  readonly fish: Shell;
}

const FETCH_TIMEOUT_MS = 5 * 60_000;

/** From PATH, from the cache, or unpacked into the cache from the Debian packages: nothing is installed. */
export async function findShells(
  report: (line: string) => void,
): Promise<Shells | { readonly missing: string }> {
  mustBeDeclared('shells');
  const [zsh, fish] = ['zsh', 'fish'].map((name) => findProgram(name));
  if (zsh && fish) {
    const installed = (command: string): Shell => ({ command, env: {}, prologue: '' });
    return { zsh: installed(zsh), fish: installed(fish) };
  }
  const home = join(cacheDir(), 'shells');
  const cached = unpacked(home);
  const fetch = async (): Promise<Shells | { readonly missing: string }> => {
    if (isProgram(cached.zsh.command) && isProgram(cached.fish.command)) return cached;
    report(
      'zsh and fish are not on PATH: unpacking the Debian packages into the cache (nothing is installed)',
    );
    const result = await lineProgress(report).during('fetching zsh and fish', () =>
      unpackDebianPackages(['zsh', 'fish'], home, () => Promise.resolve()),
    );
    return result.ok ? cached : { missing: `zsh and fish are not on PATH, and ${result.reason}` };
  };
  const waiting = (pid: number) => report(`shells: waiting for process ${pid}, which is fetching them`);
  return withLock(`${home}.lock`, fetch, waiting, FETCH_TIMEOUT_MS);
}

function unpacked(home: string): Shells {
  const multiarch = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const libraries = [join(home, 'usr/lib', multiarch), join(home, 'lib', multiarch)].join(':');
  const functions = join(home, 'usr/share/zsh/functions');
  return {
    zsh: {
      command: join(home, 'bin/zsh'),
      env: { LD_LIBRARY_PATH: libraries },
      // The version is in the path, and there is one. It does not take this from the environment.
      prologue: [
        `module_path=('${join(home, 'usr/lib', multiarch, 'zsh')}'/*(/))`,
        `fpath=('${functions}' '${functions}'/*(/) '${functions}'/*/*(/))`,
      ].join('\n'),
    },
    fish: { command: join(home, 'usr/bin/fish'), env: { LD_LIBRARY_PATH: libraries }, prologue: '' },
  };
}
