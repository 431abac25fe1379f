/** The files of the chart that follow from its values and from what the services declare, each with its path. */
import { readFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { readValues, valuesSchema, valuesTable } from './chart-values.mjs';

const root = new URL('..', import.meta.url);
const chart = 'charts/spotalis';
const subcharts = ['controller', 'webhook', 'redis'];
const chartOf = (name) => (name === undefined ? chart : `${chart}/charts/${name}`);

const textOf = (path) => readFile(new URL(path, root), 'utf8');
const valuesOf = async (name) => readValues(await textOf(`${chartOf(name)}/values.yaml`));

/** `configuration` is the schema of the services' configuration file, which the chart takes as a value. */
async function schemas(configuration) {
  const own = await valuesOf();
  const globals = own.filter(({ path }) => path[0] === 'global');
  const whole = [`${chart}/values.schema.json`, valuesSchema(own, globals, subcharts, configuration)];
  const parts = subcharts.map(async (name) => [
    `${chartOf(name)}/values.schema.json`,
    valuesSchema(await valuesOf(name), globals, [], configuration),
  ]);
  return [whole, ...(await Promise.all(parts))];
}

async function readme() {
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

/**
 * Each service's chart can be installed alone, so each has what they share; `defaults` are those of the configuration,
 * `reloadable` keys of it.
 */
async function sharedParts({ defaults, reloadable }) {
  const shared = await textOf('charts/shared/_shared.tpl');
  const note = '{{/* Written by scripts/generate-docs.mjs from charts/shared: change it there. */}}\n';
  const assumed = `{{/* Written by scripts/generate-docs.mjs: what the services assume where the configuration says nothing. */}}
{{- define "spotalis.defaults" -}}
${stringify(defaults, { lineWidth: 0 })}{{- end -}}
`;
  return ['controller', 'webhook'].flatMap((service) => [
    [`${chartOf(service)}/templates/_shared.tpl`, note + shared],
    [`${chartOf(service)}/templates/_defaults.tpl`, assumed],
    [`${chartOf(service)}/reloadable.txt`, `${reloadable.join('\n')}\n`],
  ]);
}

export async function chartFiles({ configuration, defaults, reloadable }) {
  return [
    ...(await sharedParts({ defaults, reloadable })),
    ...(await schemas(configuration)),
    await readme(),
  ];
}
