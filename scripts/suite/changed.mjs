/**
 * Which files of tests on real parts a change can break: those that reach a changed file by imports, or by what they
 * start or read. It errs on the side of playing too much.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** A change of these can break anything. */
const everything = [
  '.ci/',
  'e2e/cluster/go/',
  'e2e/cluster/parts.ts',
  'e2e/cluster/versions.ts',
  'jest.config.mjs',
  'package.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'scripts/bootstrap.mjs',
  'scripts/bundle.mjs',
  'scripts/bundle/',
  'scripts/suite/',
];

const services = ['packages/webhook/src/main.ts', 'packages/controller/src/main.ts', 'docker/'];

/** What modules start or read without importing it: paths of modules, and folders, which end in a slash. */
const reaches = {
  'charts/tests/rules.ts': ['charts/spotalis/'],
  'charts/tests/snapshots.real.test.ts': ['charts/spotalis/', 'charts/tests/__snapshots__/'],
  'e2e/cluster/helm/helm.ts': ['charts/spotalis/'],
  'e2e/cluster/images/service.ts': services,
  'e2e/cluster/installation/installation.ts': [...services, 'charts/spotalis/charts/'],
  'docs/tests/pages.ts': ['docs/', 'README.md', 'packages/cli/src/main.ts'],
  'e2e/scenarios/krew.test.ts': ['packages/cli/krew/', 'packages/cli/src/main.ts', 'scripts/krew.mjs'],
  'e2e/scenarios/kubectl.ts': ['packages/cli/src/main.ts'],
  'e2e/scenarios/terminal.test.ts': ['packages/cli/src/main.ts'],
  'tour/tour.real.test.ts': ['tour/main.ts'],
};

/** Paths changed since the commit, committed or not, and those that git does not know yet. */
export function changedSince(commit) {
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  return [...git('diff', '--name-only', commit), ...git('ls-files', '-o', '--exclude-standard')];
}

/** Of the files, those that the changed paths can break. */
export function affectedBy(changed, files, read = readModule) {
  if (changed.some((path) => everything.some((part) => path.startsWith(part)))) return files;
  const modules = new Modules(read);
  return files.filter((file) => {
    const reached = modules.reachedFrom(file.path);
    return changed.some((path) => reached.some((one) => touches(path, one)));
  });
}

/** A file that is no module, such as a script of Redis, is read by the modules of its folder. */
function touches(changed, reached) {
  if (reached.endsWith('/')) return changed.startsWith(reached);
  return changed === reached || (!/\.(ts|mjs|md)$/.test(changed) && dirname(changed) === dirname(reached));
}

class Modules {
  #read;
  #leadsTo = new Map();

  constructor(read) {
    this.#read = read;
  }

  /** Itself, what it imports, and so on. */
  reachedFrom(path) {
    const seen = new Set([path]);
    for (const one of seen) for (const next of this.#next(one)) seen.add(next);
    return [...seen];
  }

  #next(path) {
    let found = this.#leadsTo.get(path);
    if (found === undefined) {
      found = [...(reaches[path] ?? []), ...this.#imports(path)];
      this.#leadsTo.set(path, found);
    }
    return found;
  }

  #imports(path) {
    if (!/\.(ts|mjs)$/.test(path)) return [];
    const statements = this.#read(path).matchAll(
      /^(?:import|export)\s+(?:type\s+)?(?:(\{[^}]*\})\s*from\s*|[\w*{][^;'"]*from\s*)?['"]([^'"]+)['"]/gm,
    );
    return [...statements].flatMap(([, names, from]) => {
      const target = resolveImport(path, from);
      if (target === undefined) return [];
      return target.endsWith('/index.ts') && names ? this.#behind(target, namesIn(names)) : [target];
    });
  }

  /** An index gives away what others hold: only these count, or all that it imports would. */
  #behind(index, names) {
    const wanted = new Set(names);
    const exports = this.#read(index).matchAll(/export\s+(?:type\s+)?(\{[^}]*\})\s*from\s*['"]([^'"]+)['"]/g);
    const found = [...exports].filter(([, given]) => namesIn(given).some((name) => wanted.has(name)));
    return found.map(([, , from]) => resolveImport(index, from));
  }
}

/** By the name that is given or taken at the package's door. */
function namesIn(braces) {
  return braces
    .slice(1, -1)
    .split(',')
    .map((part) => part.trim().replace(/^type\s+/, ''))
    .filter(Boolean)
    .map((part) => part.split(/\s+as\s+/).at(0));
}

function resolveImport(path, from) {
  if (from.startsWith('.')) return normalize(join(dirname(path), from));
  const [, name, folder] = /^@spotalis\/([\w-]+)(?:\/([\w-]+))?$/.exec(from) ?? [];
  if (name === undefined) return undefined;
  if (folder !== undefined) return `${name}/${folder}/index.ts`;
  return name === 'cluster' ? 'e2e/cluster/index.ts' : `packages/${name}/src/index.ts`;
}

const readModule = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
