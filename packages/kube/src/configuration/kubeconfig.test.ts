import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { ConfigurationError } from '../errors.ts';
import { loadKubeconfig } from './kubeconfig.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kube-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

const good = {
  clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443' } }],
  users: [{ name: 'u', user: { token: 't' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'team' } }],
  'current-context': 'x',
};

function write(name: string, content: unknown): string {
  const path = join(directory, name);
  writeFileSync(path, typeof content === 'string' ? content : stringify(content));
  return path;
}

function failure(source: Parameters<typeof loadKubeconfig>[0]): ConfigurationError {
  try {
    loadKubeconfig(source);
  } catch (thrown) {
    if (thrown instanceof ConfigurationError) {
      return thrown;
    }
    throw thrown;
  }
  throw new Error('nothing was thrown');
}

describe('a kubeconfig', () => {
  it('is read from the path', () => {
    const config = loadKubeconfig({ path: write('config', good) });
    expect(config.getCurrentCluster()?.server).toBe('https://10.0.0.1:6443');
  });

  it('is taken from KUBECONFIG before the home directory, the first of several files winning', () => {
    const first = write('one', good);
    const second = write('two', {
      ...good,
      clusters: [
        { name: 'c', cluster: { server: 'https://lost:1' } },
        { name: 'd', cluster: { server: 'https://other:1' } },
      ],
      'current-context': 'elsewhere',
    });
    const config = loadKubeconfig({
      environment: { KUBECONFIG: `${first}:${second}` },
      homeDirectory: directory,
    });
    expect(config.getCurrentCluster()?.server).toBe('https://10.0.0.1:6443');
    expect(config.getCluster('d')?.server).toBe('https://other:1');
  });

  it('in the home directory is used when nothing else is named', () => {
    mkdirSync(join(directory, '.kube'));
    write('.kube/config', good);
    const config = loadKubeconfig({ environment: {}, homeDirectory: directory });
    expect(config.getCurrentContext()).toBe('x');
  });

  it('may choose another context than its own', () => {
    const contexts = [...good.contexts, { name: 'y', context: { cluster: 'c', user: 'u' } }];
    const path = write('config', { ...good, contexts });
    expect(loadKubeconfig({ path, context: 'y' }).getCurrentContext()).toBe('y');
  });

  it('finds relative certificate and token files beside itself', () => {
    const path = write('config', {
      ...good,
      clusters: [{ name: 'c', cluster: { server: 'https://h:1', 'certificate-authority': 'ca.crt' } }],
      users: [{ name: 'u', user: { tokenFile: 'token', 'client-certificate': 'me.crt' } }],
    });
    const config = loadKubeconfig({ path });
    expect(config.getCurrentCluster()?.caFile).toBe(join(directory, 'ca.crt'));
    expect(config.getCurrentUser()?.certFile).toBe(join(directory, 'me.crt'));
    expect(config.getCurrentUser()?.authProvider).toEqual({
      name: 'tokenFile',
      config: { tokenFile: join(directory, 'token') },
    });
  });
});

describe('in a pod', () => {
  it('the ServiceAccount and the service address are used', () => {
    const account = join(directory, 'var/run/secrets/kubernetes.io/serviceaccount');
    mkdirSync(account, { recursive: true });
    writeFileSync(join(account, 'token'), 'mine');
    const host = process.env['KUBERNETES_SERVICE_HOST'];
    const port = process.env['KUBERNETES_SERVICE_PORT'];
    process.env['KUBERNETES_SERVICE_HOST'] = 'fd00::1';
    process.env['KUBERNETES_SERVICE_PORT'] = '443';
    try {
      const config = loadKubeconfig({ homeDirectory: directory, root: directory });
      expect(config.getCurrentCluster()?.server).toBe('https://[fd00::1]:443');
    } finally {
      restore('KUBERNETES_SERVICE_HOST', host);
      restore('KUBERNETES_SERVICE_PORT', port);
    }
  });

  it('without a token the error says what may be done', () => {
    const error = failure({
      environment: { KUBERNETES_SERVICE_HOST: '10.0.0.1' },
      homeDirectory: directory,
      root: directory,
    });
    expect(error.message).toContain('Set KUBECONFIG=');
  });
});

describe('a kubeconfig that cannot be used is one coded error', () => {
  const withCluster = (cluster: object): unknown => ({ ...good, clusters: [{ name: 'c', cluster }] });
  it.each<[string, unknown, string]>([
    ['broken YAML', '{ clusters: [', 'is not a valid kubeconfig'],
    ['something else entirely', 'hello', 'it has no "clusters"'],
    ['an empty file', '', 'it has no "clusters"'],
    ['a cluster without a server', withCluster({}), 'clusters[0].cluster.server is missing'],
    ['a server that is no URL', withCluster({ server: '10.0.0.1' }), 'https://10.0.0.1:6443'],
    ['a server of another scheme', withCluster({ server: 'ftp://h' }), 'server "ftp://h" of cluster "c"'],
    ['a SOCKS proxy', withCluster({ server: 'https://h', 'proxy-url': 'socks5://p:1' }), 'socks5://p:1'],
    ['no current context', { ...good, 'current-context': undefined }, 'current-context is not set'],
    [
      'an unknown current context',
      { ...good, 'current-context': 'z' },
      'context "z" does not exist; contexts there: x',
    ],
    ['a missing user', { ...good, users: [] }, 'names a user that is not there'],
    ['a missing cluster', { ...good, clusters: [] }, 'names a cluster that is not there'],
  ])('%s', (_name, content, words) => {
    const path = write('config', content);
    const error = failure({ path });
    expect(error).toMatchObject({ code: 'KUBE_CONFIGURATION', retryable: false });
    expect(error.message).toContain(words);
    expect(error.message).toContain(path);
  });

  it('a file that is not there', () => {
    expect(failure({ path: join(directory, 'nowhere') }).message).toContain('cannot read the kubeconfig');
  });
});

function restore(name: string, value: string | undefined): void {
  if (value === undefined) {
    delete process.env[name];
  } else {
    process.env[name] = value;
  }
}
