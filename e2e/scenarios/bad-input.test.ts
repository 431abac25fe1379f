import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { preloaded } from './preload.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(
  service: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  node = process.execPath,
): Promise<Ended> {
  const script = join(repository, 'packages', service, 'dist', `${service}.mjs`);
  const { PATH = '' } = process.env;
  return new Promise((resolve) => {
    execFile(node, [script, ...args], { env: { PATH, ...env }, timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

/** What people get wrong when they start a service, and the one line that tells them. */
describe.each(['webhook', 'controller'])('the %s', (service) => {
  let directory: string;
  const file = (name: string, content: string): string => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'bad-input-'));
  });

  afterAll(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  async function refuses(ended: Promise<Ended>, ...told: readonly string[]): Promise<void> {
    const { code, stderr } = await ended;
    for (const words of told) expect(stderr).toContain(words);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
  }

  it('names an unknown flag', async () => {
    await refuses(run(service, ['--confg', 'x.yaml']), '--confg');
  });

  it('names an unknown configuration key and the nearest one', async () => {
    const config = file('typo.yaml', 'redis: { url: "redis://localhost:6379" }\nlogging: { levl: debug }\n');
    await refuses(run(service, ['--config', config]), 'logging.levl', 'logging.level');
  });

  it('names a bad value, its key and what is allowed', async () => {
    const config = file('value.yaml', 'redis: { url: "redis://localhost:6379" }\nlogging: { level: loud }\n');
    await refuses(run(service, ['--config', config]), 'logging.level', 'loud', 'debug');
  });

  it('names an unknown environment variable', async () => {
    const env = { SPOTALIS_REDIS_URL: 'redis://localhost:6379', SPOTALIS_LOGING_LEVEL: 'debug' };
    await refuses(run(service, [], env), 'SPOTALIS_LOGING_LEVEL');
  });

  it('names a configuration file that is not there', async () => {
    await refuses(run(service, ['--config', '/nowhere/spotalis.yaml']), '/nowhere/spotalis.yaml');
  });

  it('names a kubeconfig that cannot be read', async () => {
    const config = file('good.yaml', 'redis: { url: "redis://localhost:6379" }\n');
    const broken = file('kubeconfig', '{ not yaml');
    await refuses(run(service, ['--config', config, '--kubeconfig', broken]), broken);
  });

  it('names a port that is in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, resolve));
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const kubeconfig = file(
      'somewhere',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
        users: [{ name: 'u', user: { token: 't' } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'spotalis' } }],
        'current-context': 'x',
      }),
    );
    const config = file(
      'port.yaml',
      `redis: { url: "redis://127.0.0.1:1" }\ncontroller: { leaderElection: { namespace: spotalis } }\nhealth: { port: ${port} }\n`,
    );
    const { code, stdout, stderr } = await run(service, ['--config', config, '--kubeconfig', kubeconfig]);
    taken.close();
    expect(`${stdout}${stderr}`).toMatch(new RegExp(`${port}.*in use|in use.*${port}`));
    expect(code).toBe(1);
  });

  it('prints the effective configuration with its origins, secrets masked', async () => {
    const config = file('print.yaml', 'redis: { url: "redis://:hunter2@localhost:6379" }\n');
    const { code, stdout } = await run(service, ['--config', config, '--print-config'], {
      SPOTALIS_LOGGING_LEVEL: 'debug',
    });
    expect(code).toBe(0);
    expect(stdout).toContain('SPOTALIS_LOGGING_LEVEL');
    expect(stdout).not.toContain('hunter2');
  });

  it('starts on the Node that the tests were started with', async () => {
    const config = file('node.yaml', 'redis: { url: "redis://localhost:6379" }\n');
    const node = process.env['SPOTALIS_TEST_NODE'] ?? process.execPath;
    const { code, stdout } = await run(service, ['--config', config, '--print-config'], {}, node);
    expect(stdout).toContain('redis://localhost:6379');
    expect(code).toBe(0);
  });

  it('loads no second HTTP client, and no HTTP/2, which nothing here speaks', async () => {
    const config = file('modules.yaml', 'redis: { url: "redis://localhost:6379" }\n');
    const tell = `process.on('exit', () => process.stderr.write(process.moduleLoadList.join('\\n')));`;
    const { stderr } = await run(service, ['--config', config, '--print-config'], preloaded(tell));
    const loaded = stderr.split('\n').map((line) => line.replace('NativeModule ', ''));
    expect(loaded).toContain('https');
    expect(loaded.filter((name) => /undici|http2/.test(name))).toEqual([]);
  });
});
