/** Writes the pages of docs/, and the parts of the charts, that say what the code says: `npm run docs`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { cliReference, commands } from '../packages/cli/src/index.ts';
import { controllerEvents, controllerReasons, reasonsReference } from '../packages/controller/src/index.ts';
import { modules, settings } from '../packages/core/src/index.ts';
import {
  configurationDefaults,
  configurationJsonSchema,
  configurationReference,
  metricsReference,
  reloadableKeys,
} from '../packages/runtime/src/index.ts';
import { webhookEvents } from '../packages/webhook/src/index.ts';
import { chartFiles } from './chart-files.mjs';
import { resourceFiles } from './resources.mjs';
import { rightsFiles } from './rights.mjs';

const root = new URL('..', import.meta.url);

/** A package declares its metrics in exports of its index whose names end in MetricSpecs. */
async function metricsOf(owner) {
  const exported = await import(new URL(`packages/${owner}/src/index.ts`, root).href);
  const names = Object.keys(exported).filter((name) => name.endsWith('MetricSpecs'));
  return { owner, specs: names.flatMap((name) => exported[name]) };
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
file, a key may be written once only, under its name or an older one. Processes read a change at different times:
[moves that rely on \`defaults.*\` wait for the webhooks](concepts.md#when-something-drifts).`;

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
    ['docs/reasons.md', reasonsReference(controllerReasons, events)],
    ['docs/cli.md', cliReference(commands)],
    ...(await chartFiles({
      configuration: configurationJsonSchema(settings),
      defaults: configurationDefaults(settings),
      reloadable: reloadableKeys(settings),
    })),
    ...resourceFiles(modules),
    ...rightsFiles(modules),
  ]);
}

if (import.meta.main) {
  for (const [path, text] of await generatedDocs()) {
    await mkdir(new URL('.', new URL(path, root)), { recursive: true });
    await writeFile(new URL(path, root), text);
    console.log(`wrote ${path}`);
  }
}
