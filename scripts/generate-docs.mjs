/** Writes the pages of docs/, and the parts of the charts, that say what the code says: `node scripts/generate-docs.mjs`. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { cliReference, commands } from '../packages/cli/src/index.ts';
import { configurationReference, metricsReference, reloadableKeys } from '../packages/runtime/src/index.ts';

const root = new URL('..', import.meta.url);

/** A service declares its metrics in exports of its index whose names end in MetricSpecs. */
async function metricsOf(service) {
  const exported = await import(new URL(`packages/${service}/src/index.ts`, root).href);
  const names = Object.keys(exported).filter((name) => name.endsWith('MetricSpecs'));
  return { service, specs: names.flatMap((name) => exported[name]) };
}

/** Each service's chart can be installed alone, so each has the templates they share. */
async function chartParts() {
  const shared = await readFile(new URL('charts/shared/_shared.tpl', root), 'utf8');
  const note = '{{/* Written by scripts/generate-docs.mjs from charts/shared: change it there. */}}\n';
  return ['controller', 'webhook'].flatMap((service) => {
    const chart = `charts/spotalis/charts/${service}`;
    return [
      [`${chart}/templates/_shared.tpl`, note + shared],
      [`${chart}/reloadable.txt`, reloadableKeys().join('\n') + '\n'],
    ];
  });
}

/** Each generated page with its text, by its path in the repository. */
export async function generatedDocs() {
  const services = await Promise.all(['webhook', 'controller'].map(metricsOf));
  return new Map([
    ['docs/configuration.md', configurationReference()],
    ['docs/metrics.md', metricsReference(services)],
    ...(await chartParts()),
    ['docs/cli.md', cliReference(commands)],
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of await generatedDocs()) {
    await writeFile(new URL(path, root), text);
    console.log(`wrote ${path}`);
  }
}
