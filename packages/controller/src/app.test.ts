import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type ProductSettings, settings } from '@spotalis/core';
import { Credentials, EventRecorder } from '@spotalis/kube';
import { createLogger, type LoadedConfiguration, loadConfiguration } from '@spotalis/runtime';
import { createController } from './app.ts';

type Followed = ReturnType<LoadedConfiguration<ProductSettings>['follow']>;

const logger = createLogger({ service: 'test', level: 'error', format: 'json', stream: new PassThrough() });

let directory: string;
/** Reasons of the Events, which no API server is there to take. */
let told: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spotalis-'));
  told = [];
  jest.spyOn(EventRecorder.prototype, 'record').mockImplementation(({ reason }) => {
    told.push(reason);
  });
});

afterEach(async () => {
  jest.restoreAllMocks();
  await rm(directory, { recursive: true });
});

async function write(name: string, values: object): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, JSON.stringify(values));
  return path;
}

const configured = (values: object): Promise<string> =>
  write('spotalis.yaml', { redis: { url: 'memory://' }, ...values });

const kubeconfigFor = (server: string): Promise<string> =>
  write('kubeconfig', {
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'spotalis-system' } }],
    clusters: [{ name: 'test', cluster: { server } }],
    users: [{ name: 'test', user: { token: 'test' } }],
  });

/** What a controller that is wired but not started follows. */
async function followed(file: string): Promise<Followed> {
  const kubeconfig = await kubeconfigFor('https://127.0.0.1:1');
  const loaded = await loadConfiguration(settings, { file, environment: {} });
  const live: Followed[] = [];
  const configuration: LoadedConfiguration<ProductSettings> = {
    ...loaded,
    follow(...how) {
      const one = loaded.follow(...how);
      live.push(one);
      return one;
    },
  };
  createController({ configuration, credentials: new Credentials({ path: kubeconfig }), logger });
  return live[0]!;
}

const fourFields = { schedule: '0 22 * *', duration: '4h' };

describe('a schedule that is not cron', () => {
  it('stops the start', async () => {
    const file = await configured({ rebalance: fourFields });
    await expect(followed(file)).rejects.toThrow('rebalance.schedule: "0 22 * *" is not');
  });

  it('lets nothing of a changed file into force', async () => {
    const live = await followed(await configured({ readOnlyMode: true }));
    await configured({ readOnlyMode: false, rebalance: fourFields });
    await live.start();
    await live.stop();
    expect(live.current).toMatchObject({ readOnlyMode: true, rebalance: { schedule: undefined } });
    expect(told).toEqual(['InvalidConfiguration']);
  });
});

describe('a controller whose distribution is off', () => {
  it('leads, and asks the API server for nothing', async () => {
    const asked: string[] = [];
    const server = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const file = await configured({
      modules: { distribution: { enabled: false } },
      controller: { leaderElection: { enabled: false } },
      health: { port: 0 },
      debug: { port: 0 },
      metrics: { port: 0 },
    });
    const configuration = await loadConfiguration(settings, { file, environment: {} });
    const credentials = new Credentials({ path: await kubeconfigFor(`http://127.0.0.1:${port}`) });
    const controller = createController({ configuration, credentials, logger });
    await controller.start();
    await controller.stop();
    server.close();
    expect(asked).toEqual([]);
  });
});
