import { inline } from './describe.ts';
import { definition } from './schema.ts';
import { environmentName, isSetting, type Schema, type Setting, settingsOf } from './setting.ts';

/** docs/configuration.md, written from the schema. */
export function configurationReference(): string {
  const { schema } = definition;
  const groups = Object.entries(schema).map(([name, node]: readonly [string, Schema | Setting<unknown>]) =>
    isSetting(node) ? section(name, new Map([[name, node]])) : section(name, settingsOf(node, `${name}.`)),
  );
  return `${[introduction, ...groups].join('\n\n')}\n`;
}

const introduction = `# Configuration

<!-- Written by scripts/generate-docs.mjs from the schema in packages/runtime. Change it there. -->

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

function section(group: string, settings: ReadonlyMap<string, Setting<unknown>>): string {
  const keys = [...settings].map(([key, about]) => entry(key, about));
  return [`## ${group}`, ...keys].join('\n\n');
}

function entry(key: string, about: Setting<unknown>): string {
  const fallback = about.default === null ? 'unset' : `\`${inline(about.default)}\``;
  const facts = [
    `- default: ${fallback}`,
    `- allowed: ${about.allowed}`,
    `- environment: \`${environmentName(key)}\``,
    ...(about.reloadable ? ['- reloadable'] : []),
    ...about.aliases.map((alias) => `- older name: \`${alias}\``),
  ];
  return [`### \`${key}\``, about.doc, facts.join('\n')].join('\n\n');
}
