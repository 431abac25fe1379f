/** Writes the pages of docs/, and the parts of the charts, that say what the code says: `npm run docs`. */
import { writeFile } from 'node:fs/promises';
import { cliReference, commands } from '../packages/cli/src/index.ts';
import { controllerEvents, reasonsReference } from '../packages/controller/src/index.ts';
import {
  configurationJsonSchema,
  configurationReference,
  metricsReference,
  reloadableKeys,
} from '../packages/runtime/src/index.ts';
import { webhookEvents } from '../packages/webhook/src/index.ts';
import { chartFiles } from './chart-files.mjs';

const root = new URL('..', import.meta.url);

/** A service declares its metrics in exports of its index whose names end in MetricSpecs. */
async function metricsOf(service) {
  const exported = await import(new URL(`packages/${service}/src/index.ts`, root).href);
  const names = Object.keys(exported).filter((name) => name.endsWith('MetricSpecs'));
  return { service, specs: names.flatMap((name) => exported[name]) };
}

/** Each generated page with its text, by its path in the repository. */
export async function generatedDocs() {
  const events = [
    { service: 'controller', events: controllerEvents },
    { service: 'webhook', events: webhookEvents },
  ];
  const services = await Promise.all(['webhook', 'controller'].map(metricsOf));
  return new Map([
    ['docs/configuration.md', configurationReference()],
    ['docs/metrics.md', metricsReference(services)],
    ['docs/reasons.md', reasonsReference(events)],
    ['docs/cli.md', cliReference(commands)],
    ...(await chartFiles({ configuration: configurationJsonSchema(), reloadable: reloadableKeys() })),
  ]);
}

if (import.meta.main) {
  for (const [path, text] of await generatedDocs()) {
    await writeFile(new URL(path, root), text);
    console.log(`wrote ${path}`);
  }
}
