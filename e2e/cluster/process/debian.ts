import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProgram } from './path.ts';
import { run } from './run.ts';

/**
 * Unpacks packages of this Debian (or Ubuntu) into a directory, with those libraries they need and the system
 * lacks. Works without root, installs nothing, starts nothing, and leaves the system's own apt state alone.
 * `finish` may rearrange the tree before it appears, whole, at `home`. Returns why it failed, if it did.
 * `whole` takes every library, as if the system had none: what an image needs. `suite` is another Debian than this one.
 */
export async function unpackDebianPackages(
  names: readonly string[],
  home: string,
  finish: (tree: string) => Promise<void>,
  { whole = false, suite }: { readonly whole?: boolean; readonly suite?: string } = {},
): Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: string }> {
  if (!findProgram('apt-get') || !findProgram('dpkg-deb'))
    return { ok: false, reason: 'this system has no apt-get to fetch it with' };
  mkdirSync(dirname(home), { recursive: true });
  const work = mkdtempSync(`${home}-fetch-`);
  try {
    const archives = join(work, 'archives');
    const tree = join(work, 'tree');
    for (const directory of [join(work, 'lists', 'partial'), join(archives, 'partial'), tree])
      mkdirSync(directory, { recursive: true });
    const options = [
      ...privateState(work, archives),
      ...(whole ? ['-o', 'Dir::State::status=/dev/null'] : []),
      ...(suite ? sourcesOf(suite, work) : []),
    ];
    const apt = (...args: string[]) => run('apt-get', [...options, ...args], { LC_ALL: 'C' });
    // One foreign source that does not answer makes `update` fail although Debian's own lists came.
    const updated = await apt('update');
    // `--reinstall` also fetches what is installed, but hidden from us.
    const fetched = await apt(
      'install',
      '--download-only',
      '--reinstall',
      '--no-install-recommends',
      '-y',
      ...names,
    );
    const packages = readdirSync(archives).filter((file) => file.endsWith('.deb'));
    if (!fetched.ok || packages.length === 0) {
      return {
        ok: false,
        reason: `apt-get could not fetch ${names.join(', ')} (${lastLine(fetched.stderr || updated.stderr)})`,
      };
    }
    for (const file of packages) {
      const unpack = await run('dpkg-deb', ['-x', join(archives, file), tree]);
      if (!unpack.ok) return { ok: false, reason: `${file} does not unpack (${lastLine(unpack.stderr)})` };
    }
    await finish(tree);
    rmSync(home, { recursive: true, force: true });
    renameSync(tree, home);
    return { ok: true };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Lists, archives and locks in directories of our own. */
function privateState(work: string, archives: string): string[] {
  const options = {
    'Dir::State::lists': join(work, 'lists'),
    'Dir::Cache': work,
    'Dir::Cache::archives': archives,
    'Debug::NoLocking': '1',
    'APT::Sandbox::User': '',
    'Acquire::Retries': '1',
    'Acquire::http::Timeout': '15',
  };
  return Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

function sourcesOf(suite: string, work: string): string[] {
  const file = join(work, 'sources.list');
  const key = '/usr/share/keyrings/debian-archive-keyring.gpg';
  writeFileSync(file, `deb [signed-by=${key}] http://deb.debian.org/debian ${suite} main\n`);
  return ['-o', `Dir::Etc::sourcelist=${file}`, '-o', 'Dir::Etc::sourceparts=/dev/null'];
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
