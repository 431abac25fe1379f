import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crdOf, rightReaches, ruleOf } from '@spotalis/core';
import { settingsWithToy, toy, toyModule } from '@spotalis/core/testing';
import { chartDir } from '@spotalis/cluster';
import { configurationDefaults, configurationJsonSchema } from '@spotalis/runtime';
import { stringify } from 'yaml';

interface Schema {
  readonly properties: { readonly global: { readonly properties: Record<string, unknown> } };
}

/** The chart of a product with one module more. A service's chart in it can be installed alone. */
export interface ToyChart {
  readonly path: string;
  of(service: 'controller' | 'webhook'): string;
  /** As the next version of the product may have it. */
  changeResource(definition: Parameters<typeof crdOf>[0]): void;
  dispose(): void;
}

export const toyAlert = { alert: 'ToyBroken', expr: 'spotalis_toy_broken == 1' };
export const toyPanel = { id: 901, type: 'stat', title: 'Toys' };

/** From the toy's declaration, as `npm run docs` makes it from those of the modules that there are. */
export function chartWithToy(): ToyChart {
  const home = mkdtempSync(join(tmpdir(), 'chart-'));
  const path = join(home, 'spotalis');
  cpSync(chartDir(), path, { recursive: true });
  const of = (service: string) => join(path, 'charts', service);
  const write = (file: string, text: string) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const changeResource: ToyChart['changeResource'] = (definition) =>
    write(`${of('controller')}/files/crds/toy/toypolicies.yaml`, stringify(crdOf(definition)));

  changeResource(toy);
  const defaults = stringify(configurationDefaults(settingsWithToy));
  for (const service of ['controller', 'webhook'] as const) {
    write(
      `${of(service)}/templates/_defaults.tpl`,
      `{{- define "spotalis.defaults" }}\n${defaults}{{ end }}`,
    );
    for (const reach of rightReaches) {
      const rules = toyModule.rights[service][reach]?.map(ruleOf);
      if (rules !== undefined) write(`${of(service)}/rbac/modules/toy/${reach}.yaml`, stringify(rules));
    }
  }
  const configuration = configurationJsonSchema(settingsWithToy);
  for (const chart of [path, ...['controller', 'webhook', 'redis'].map(of)]) {
    const file = `${chart}/values.schema.json`;
    const schema: Schema = JSON.parse(readFileSync(file, 'utf8'));
    schema.properties.global.properties['config'] = configuration;
    write(file, JSON.stringify(schema));
  }
  const group = { name: 'spotalis-toy', rules: [toyAlert] };
  const alerts = `${path}/files/alerts.yaml`;
  write(alerts, `${readFileSync(alerts, 'utf8')}  - ${JSON.stringify(group)}\n`);
  const file = `${path}/files/dashboard.json`;
  const dashboard: { readonly panels: object[] } = JSON.parse(readFileSync(file, 'utf8'));
  dashboard.panels.push({ id: 900, type: 'row', title: 'Toy' }, toyPanel);
  write(file, JSON.stringify(dashboard));
  return { path, of, changeResource, dispose: () => rmSync(home, { recursive: true, force: true }) };
}
