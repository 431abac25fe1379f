/**
 * Bundles the service in the current directory into dist/<name>.mjs: one file to ship, and about 60 MB less
 * memory at rest than the same code loaded module by module.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { build } from 'esbuild';
import { bundling } from './bundle/options.mjs';

const { name, version, bin } = JSON.parse(await readFile('package.json', 'utf8'));
const service = name.replace('@spotalis/', '');
/** A program that people run has the name they run it by. */
const [outfile = `dist/${service}.mjs`] = Object.values(bin ?? {});

/**
 * One character outside of Latin-1 makes V8 keep the whole text with two bytes for each. Outside of strings, which
 * esbuild sees to, there are some in regular expressions and comments, where an escape is as good.
 */
const inAscii = (text) =>
  text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const { outputFiles } = await build({
  ...bundling(),
  entryPoints: ['src/main.ts'],
  outfile,
  define: { 'process.env.SPOTALIS_VERSION': JSON.stringify(version) },
  sourcemap: 'linked',
  // V8 keeps the text of what it runs. Names stay: they are in stack traces.
  minifyWhitespace: true,
  // Node prints the whole line in which an exception was thrown.
  lineLimit: 200,
  legalComments: 'eof',
  write: false,
  logLevel: 'warning',
});

await mkdir(dirname(outfile), { recursive: true });
for (const { path, text } of outputFiles) {
  // As esbuild itself would: what names its interpreter can be run.
  const mode = text.startsWith('#!') ? 0o755 : 0o644;
  await writeFile(path, path.endsWith('.map') ? text : inAscii(text), { mode });
}
