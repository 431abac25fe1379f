/** Writes the pages of docs/, and the parts of the charts, that say what the code says: `node scripts/generate-docs.mjs`. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { cliReference, commands } from '../packages/cli/src/index.ts';
import { controllerEvents, reasonsReference } from '../packages/controller/src/index.ts';
import { settings } from '../packages/core/src/index.ts';
import {
  configurationDefaults,
  configurationJsonSchema,
  configurationReference,
  metricsReference,
  reloadableKeys,
} from '../packages/runtime/src/index.ts';
import { webhookEvents } from '../packages/webhook/src/index.ts';
import { readValues, valuesSchema, valuesTable } from './charts.mjs';

const root = new URL('..', import.meta.url);

/** A package declares its metrics in exports of its index whose names end in MetricSpecs. */
async function metricsOf(owner) {
  const exported = await import(new URL(`packages/${owner}/src/index.ts`, root).href);
  const names = Object.keys(exported).filter((name) => name.endsWith('MetricSpecs'));
  return { owner, specs: names.flatMap((name) => exported[name]) };
}

const chart = 'charts/spotalis';
const subcharts = ['controller', 'webhook', 'redis'];
const chartOf = (name) => (name === undefined ? chart : `${chart}/charts/${name}`);

const textOf = (path) => readFile(new URL(path, root), 'utf8');
const valuesOf = async (name) => readValues(await textOf(`${chartOf(name)}/values.yaml`));

async function chartSchemas() {
  const own = await valuesOf();
  const globals = own.filter(({ path }) => path[0] === 'global');
  const configuration = configurationJsonSchema(settings);
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
  const defaults = `{{/* Written by scripts/generate-docs.mjs: what the services assume where the configuration says nothing. */}}
{{- define "spotalis.defaults" -}}
${stringify(configurationDefaults(settings), { lineWidth: 0 })}{{- end -}}
`;
  return ['controller', 'webhook'].flatMap((service) => [
    [`${chartOf(service)}/templates/_shared.tpl`, note + shared],
    [`${chartOf(service)}/templates/_defaults.tpl`, defaults],
    [`${chartOf(service)}/reloadable.txt`, `${reloadableKeys(settings).join('\n')}\n`],
  ]);
}

const configurationIntroduction = `# Configuration

<!-- Written by scripts/generate-docs.mjs from the settings that packages/core/src/settings.ts lists. Change them where they are declared. -->

Both services read one YAML file, given by \`--config\`. An environment variable wins over the file, the file over
the default. \`--print-config\` shows the values in force and where each came from, with passwords masked.

An unknown key or a value that is not allowed stops the start with exit code 1 and one line for each fault, naming
the key, the value and what is allowed:

    controller.resyncPeriod: "2s" is not allowed; needs a duration of at least 5s, for example 30s
    controller.resycPeriod: unknown key; did you mean controller.resyncPeriod?

Durations are written as in Go: \`1500ms\`, \`30s\`, \`2h30m\`. In an environment variable, a list is separated by
commas, and a map is YAML in one line (JSON is, too). Variables that Kubernetes sets for Services are ignored.

A changed file is picked up within seconds for the keys marked *reloadable*; the others wait for a restart, and the
log names them. A changed file with a fault in it is refused as a whole: the old values stay in force, and an Event
\`InvalidConfiguration\` on the service's pod, the log and \`spotalis_configuration_reloads_total\` tell of it. Within one
file, a key may be written once only, under its name or an older one.`;

/** Each generated page with its text, by its path in the repository. */
export async function generatedDocs() {
  const events = [
    { service: 'controller', events: controllerEvents },
    { service: 'webhook', events: webhookEvents },
  ];
  const metrics = await Promise.all(['webhook', 'controller', 'ledger'].map(metricsOf));
  return new Map([
    ['docs/configuration.md', configurationReference(settings, configurationIntroduction)],
    ['docs/metrics.md', metricsReference(metrics)],
    ['docs/reasons.md', reasonsReference(events)],
    ...(await sharedParts()),
    ...(await chartSchemas()),
    await chartReadme(),
    ['docs/cli.md', cliReference(commands)],
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of await generatedDocs()) {
    await writeFile(new URL(path, root), text);
    console.log(`wrote ${path}`);
  }
}
