import { expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { settings } from '@spotalis/core';
import { Credentials } from '@spotalis/kube';
import { createLogger, loadConfiguration } from '@spotalis/runtime';
import { createController } from './app.ts';

it('a controller without modules leads, and asks the API server for nothing', async () => {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const directory = await mkdtemp(join(tmpdir(), 'spotalis-'));
  const write = async (name: string, values: object): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, JSON.stringify(values));
    return path;
  };
  const path = await write('kubeconfig', {
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'spotalis-system' } }],
    clusters: [{ name: 'test', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'test', user: { token: 'test' } }],
  });
  const file = await write('spotalis.yaml', {
    redis: { url: 'memory://' },
    controller: { leaderElection: { enabled: false } },
    health: { port: 0 },
    debug: { port: 0 },
    metrics: { port: 0 },
  });
  const configuration = await loadConfiguration(settings, { file, environment: {} });
  const logger = createLogger({ service: 'test', level: 'error', format: 'json', stream: new PassThrough() });
  const controller = createController({ configuration, credentials: new Credentials({ path }), logger }, []);
  await controller.start();
  await new Promise((resolve) => setImmediate(resolve));
  await controller.stop();
  await new Promise((resolve) => server.close(resolve));
  await rm(directory, { recursive: true });
  expect(asked).toEqual([]);
});
