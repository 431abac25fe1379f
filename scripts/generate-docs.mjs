/** Writes the pages of docs/, and the parts of the charts, that say what the code says: `node scripts/generate-docs.mjs`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { cliReference, commands } from '../packages/cli/src/index.ts';
import { customResources } from '../packages/core/src/index.ts';
import { controllerEvents, reasonsReference } from '../packages/controller/src/index.ts';
import {
  configurationJsonSchema,
  configurationReference,
  metricsReference,
  reloadableKeys,
} from '../packages/runtime/src/index.ts';
import { webhookEvents } from '../packages/webhook/src/index.ts';
import { readValues, valuesSchema, valuesTable } from './charts.mjs';
import { resourceFiles } from './resources.mjs';

const root = new URL('..', import.meta.url);

/** A service declares its metrics in exports of its index whose names end in MetricSpecs. */
async function metricsOf(service) {
  const exported = await import(new URL(`packages/${service}/src/index.ts`, root).href);
  const names = Object.keys(exported).filter((name) => name.endsWith('MetricSpecs'));
  return { service, specs: names.flatMap((name) => exported[name]) };
}

const chart = 'charts/spotalis';
const subcharts = ['controller', 'webhook', 'redis'];
const chartOf = (name) => (name === undefined ? chart : `${chart}/charts/${name}`);

const textOf = (path) => readFile(new URL(path, root), 'utf8');
const valuesOf = async (name) => readValues(await textOf(`${chartOf(name)}/values.yaml`));

async function chartSchemas() {
  const own = await valuesOf();
  const globals = own.filter(({ path }) => path[0] === 'global');
  const configuration = configurationJsonSchema();
  const whole = [`${chart}/values.schema.json`, valuesSchema(own, globals, subcharts, configuration)];
  const parts = subcharts.map(async (name) => [
    `${chartOf(name)}/values.schema.json`,
    valuesSchema(await valuesOf(name), globals, [], configuration),
  ]);
  return [whole, ...(await Promise.all(parts))];
}

async function chartReadme() {
  const tables = subcharts.map(async (name) => {
    const values = await valuesOf(name);
    const own = values.filter(({ path }) => path[0] !== 'global' && path.join('.') !== 'enabled');
    return `## ${name}\n\n${valuesTable([name], own)}`;
  });
  const parts = [
    (await textOf('charts/shared/README.head.md')).trimEnd(),
    `## For all of them\n\n${valuesTable([], await valuesOf())}`,
    ...(await Promise.all(tables)),
  ];
  return [`${chart}/README.md`, `${parts.join('\n\n')}\n`];
}

/** Each service's chart can be installed alone, so each has the templates they share. */
async function sharedParts() {
  const shared = await textOf('charts/shared/_shared.tpl');
  const note = '{{/* Written by scripts/generate-docs.mjs from charts/shared: change it there. */}}\n';
  return ['controller', 'webhook'].flatMap((service) => [
    [`${chartOf(service)}/templates/_shared.tpl`, note + shared],
    [`${chartOf(service)}/reloadable.txt`, `${reloadableKeys().join('\n')}\n`],
  ]);
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
    ...(await sharedParts()),
    ...(await chartSchemas()),
    await chartReadme(),
    ['docs/cli.md', cliReference(commands)],
    ...resourceFiles(customResources),
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of await generatedDocs()) {
    await mkdir(new URL('.', new URL(path, root)), { recursive: true });
    await writeFile(new URL(path, root), text);
    console.log(`wrote ${path}`);
  }
}
