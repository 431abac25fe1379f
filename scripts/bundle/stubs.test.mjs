import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { bundling } from './options.mjs';
import { stubs } from './stubs.mjs';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

/** `stubs` as in the bundles that are shipped, or none. */
function bundle(entryPoints, { stubbed }) {
  return build({
    ...bundling({ stubbed }),
    absWorkingDir: root,
    entryPoints,
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    nodePaths: [join(root, 'packages', 'kube', 'node_modules')],
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
}

/** By the path of each module that the services are bundled from, what it imports. */
async function modulesOf(stubbed) {
  const services = ['webhook', 'controller', 'cli'];
  const { metafile } = await bundle(
    services.map((service) => `packages/${service}/src/main.ts`),
    { stubbed },
  );
  return metafile.inputs;
}

/** A path as stubs.mjs has it: from the name of its library on, or from the root of ours. */
const named = (path) => path.replace(/^.*node_modules\//, '');

/** What a module takes of what it imports by this specifier, as stubs.mjs has it. */
function namesTaken(source, specifier) {
  const quoted = `['"]${specifier.replaceAll('.', '\\.')}['"]`;
  const first = (...patterns) =>
    patterns.map((one) => new RegExp(one).exec(source)).find((found) => found !== null);
  const several = first(
    `\\{([^{}]*)\\}\\s*=\\s*require\\(${quoted}\\)`,
    `import\\s*\\{([^{}]*)\\}\\s*from\\s*${quoted}`,
  );
  if (several !== undefined) {
    const parts = several[1].split(',').map((part) => part.trim());
    return parts
      .filter((part) => part !== '' && !part.startsWith('type '))
      .map((part) => /^\w+/.exec(part)[0]);
  }
  const [statement, whole] = first(
    `(\\w+)\\s*=\\s*require\\(${quoted}\\)`,
    `import\\s*\\*\\s*as\\s+(\\w+)\\s+from\\s*${quoted}`,
  );
  const code = source.replace(statement, '').replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '');
  const uses = code.matchAll(new RegExp(`(?<![\\w.'"/])${whole}(?!\\w)(?:\\.(\\w+)|(\\(|\\[))?`, 'g'));
  return [...uses].map(([, name, bracket]) => name ?? { '(': '()', '[': '[]' }[bracket] ?? '*');
}

let folder;
/** The modules of the services, as they would be and as they are shipped. */
let real;
let shipped;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stubs-'));
  [real, shipped] = await Promise.all([modulesOf(false), modulesOf(true)]);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const callersOf = (specifier) =>
  Object.keys(shipped).filter((path) =>
    shipped[path].imports.some((imported) => imported.path === `stub:${specifier}`),
  );

describe.each(stubs)('the stub for $specifier', ({ specifier, file, callers }) => {
  it('is asked for by its callers alone', () => {
    expect(new Set(callersOf(specifier).map(named))).toEqual(new Set(Object.keys(callers)));
  });

  it('stands for the file that it is made for', () => {
    const replaced = callersOf(specifier).map(
      (path) => real[path].imports.find(({ original }) => original === specifier)?.path ?? 'nothing',
    );
    expect(new Set(replaced.map(named))).toEqual(new Set([file]));
  });

  it.each(Object.entries(callers))('gives %s all that it takes: %j', async (name, names) => {
    const caller = callersOf(specifier).find((path) => named(path) === name);
    const taken = namesTaken(await readFile(join(root, caller), 'utf8'), specifier);
    expect(new Set(taken)).toEqual(new Set(names));
  });

  it('stands for functions and classes, but where names are not fixed', async () => {
    const names = [...new Set(Object.values(callers).flat())];
    const path = join(root, Object.keys(real).find((one) => named(one) === file) ?? file);
    const program = `import * as names from ${JSON.stringify(path)};
      const whole = names.default ?? names;
      const kinds = ${JSON.stringify(names)}.map((name) => typeof (/\\W/.test(name) ? whole : whole[name] ?? names[name]));
      console.log([...new Set(kinds)].join());`;
    const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', program]);
    expect(stdout.trim()).toBe(names.includes('[]') ? 'object' : 'function');
  });
});

it('client-node has its credentials in a file beside its index', async () => {
  const own = join(
    root,
    Object.keys(shipped).find((path) => path.endsWith('client-node/dist/config.js')) ?? '',
  );
  const program = `import { KubeConfig as credentials } from ${JSON.stringify(own)};
    import { KubeConfig } from ${JSON.stringify(join(dirname(own), 'index.js'))};
    console.log(credentials === KubeConfig);`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', program]);
  expect(stdout.trim()).toBe('true');
});

async function printedBy(program, { stubbed }) {
  const { outputFiles } = await bundle([`scripts/bundle/programs/${program}.mjs`], { stubbed });
  const name = `${program}-${stubbed ? 'stubbed' : 'real'}`;
  const path = join(folder, `${name}.mjs`);
  await writeFile(path, outputFiles[0].contents);
  // Both run at once and write files of the same names.
  const own = join(folder, name);
  await mkdir(own);
  const { stdout } = await execute(process.execPath, [path, own]);
  return stdout.replaceAll(own, 'folder');
}

describe('with stubs and without', () => {
  it.each([
    {
      program: 'express',
      prints: /^json 200 application\/json; charset=utf-8 .*^bytes 200 .* ab$.*^done$/ms,
    },
    { program: 'winston', prints: /"message":"look".*"turn":50.*^done$/ms },
    {
      program: 'client-node',
      prints: /"Bearer abc".*socks5:\/\/p:1" is a SOCKS proxy.*"Bearer made".*"skipTLSVerify":true.*^done$/ms,
    },
    {
      program: 'undici',
      prints:
        /(^directly 200 HTTP\/1\.1, agreed on http\/1\.1\n){2}(^by proxy 200 .* http\/1\.1\n){2}^done$/m,
    },
  ])('$program does the same', async ({ program, prints }) => {
    const [one, other] = await Promise.all([
      printedBy(program, { stubbed: false }),
      printedBy(program, { stubbed: true }),
    ]);
    expect(one).toMatch(prints);
    expect(other).toBe(one);
  });
});
