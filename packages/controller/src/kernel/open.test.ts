import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { settings, sharedReasons } from '@spotalis/core';
import { Credentials } from '@spotalis/kube';
import { createLogger, loadConfiguration, type Metrics } from '@spotalis/runtime';
import { modules } from '../modules/catalogue.ts';
import { openKernel } from './kernel.ts';
import { openModule } from './open.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spotalis-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

/** A kernel of which nothing has started. */
async function kernel() {
  const write = async (name: string, values: object): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, JSON.stringify(values));
    return path;
  };
  const path = await write('kubeconfig', {
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'spotalis-system' } }],
    clusters: [{ name: 'test', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'test', user: { token: 'test' } }],
  });
  const file = await write('spotalis.yaml', { redis: { url: 'memory://' } });
  const configuration = await loadConfiguration(settings, { file, environment: {} });
  const logger = createLogger({ service: 'test', level: 'error', format: 'json', stream: new PassThrough() });
  return openKernel({ configuration, credentials: new Credentials({ path }), logger });
}

async function namesIn(metrics: Metrics): Promise<ReadonlySet<string>> {
  const page = await text(metrics.page());
  return new Set([...page.matchAll(/^# TYPE (spotalis_\S+)/gm)].map(([, name]) => name!));
}

/** With memory:// there is no ledger to write a breaker into. */
const withoutLedger = /fallback|time_to_return/;

describe('a module on the kernel', () => {
  it.each(modules.map((module) => [module.name, module] as const))(
    '%s has the metrics that it declares, and no others',
    async (_name, module) => {
      const shared = await kernel();
      const before = await namesIn(shared.metrics);
      openModule(module, shared);
      const added = [...(await namesIn(shared.metrics))].filter((name) => !before.has(name));
      const declared = module.metrics.map(({ name }) => name).filter((name) => !withoutLedger.test(name));
      expect(added.toSorted()).toEqual(declared.toSorted());
    },
  );

  it.each(modules.map((module) => [module.name, module] as const))(
    '%s means by a shared reason what all others mean',
    (_name, { reasons }) => {
      const shared = new Map<string, object>(Object.entries(sharedReasons));
      const own = Object.entries(reasons).filter(([name]) => shared.has(name));
      for (const [name, traits] of own) expect(traits).toBe(shared.get(name));
    },
  );
});
