/**
 * Makes what a release has of the CLI: an archive of the bundled program, and the manifest of the plugin for a krew
 * index, whole and valid, with the archive's address and checksum. `pnpm run krew` in packages/cli
 * bundles first.
 *
 *     node scripts/krew.mjs --base-uri https://example.com/releases/download/v1.2.3 [--out DIRECTORY]
 *
 * The same program makes the same archive, byte for byte: times and owners are left out of it.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { parse, stringify } from 'yaml';

const root = fileURLToPath(new URL('../', import.meta.url));
const cli = join(root, 'packages', 'cli');
const BLOCK = 512;

/** The header of one file in a ustar archive. */
function header(name, size, mode) {
  const block = Buffer.alloc(BLOCK);
  const octal = (value, width) => `${value.toString(8).padStart(width - 1, '0')}\0`;
  block.write(name, 0, 100);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  // The sum is taken with spaces in its place.
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar', 257);
  block.write('00', 263);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** A gzipped tar of `{ name, mode, content }`. */
function archiveOf(files) {
  const blocks = files.flatMap(({ name, mode, content }) => [
    header(name, content.length, mode),
    content,
    Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK),
  ]);
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 });
}

/** The manifest in the repository with what only a release knows; comments are for who edits it, and left out. */
function manifestOf(template, { version, uri, sha256 }) {
  const manifest = parse(template);
  manifest.spec.version = `v${version}`;
  manifest.spec.platforms = manifest.spec.platforms.map((platform) => ({ ...platform, uri, sha256 }));
  return manifest;
}

/** Writes both and says what they are. */
async function release({ baseUri, out }) {
  if (!/^https:\/\/[^/]+/.test(baseUri)) {
    throw new Error(`--base-uri ${baseUri}: needs the address of a directory, https://...`);
  }
  const { version, bin } = JSON.parse(await readFile(join(cli, 'package.json'), 'utf8'));
  const [program] = Object.values(bin);
  const read = (path) =>
    readFile(path).catch((error) => {
      throw new Error(`${path} is missing: bundle the CLI first (pnpm --filter @spotalis/cli run bundle)`, {
        cause: error,
      });
    });
  const archive = archiveOf([
    { name: 'kubectl-spotalis.mjs', mode: 0o755, content: await read(join(cli, program)) },
    { name: 'LICENSE', mode: 0o644, content: await read(join(root, 'LICENSE')) },
  ]);
  const name = `kubectl-spotalis-v${version}.tar.gz`;
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const template = await readFile(join(cli, 'krew', 'spotalis.yaml'), 'utf8');
  const manifest = manifestOf(template, { version, uri: `${baseUri.replace(/\/+$/, '')}/${name}`, sha256 });
  await mkdir(out, { recursive: true });
  const paths = { archive: join(out, name), manifest: join(out, 'spotalis.yaml') };
  await writeFile(paths.archive, archive);
  await writeFile(paths.manifest, stringify(manifest, { blockQuote: 'literal' }));
  return { ...paths, sha256 };
}

const { values } = parseArgs({
  options: {
    'base-uri': { type: 'string', default: '' },
    out: { type: 'string', default: join(cli, 'dist', 'release') },
  },
});
try {
  const { archive, manifest, sha256 } = await release({ baseUri: values['base-uri'], out: values.out });
  console.log(`${archive}\n${manifest}\nsha256 ${sha256}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
