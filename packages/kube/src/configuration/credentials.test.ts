import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Credentials } from './credentials.ts';

let directory: string;
let nowMs = 0;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kube-'));
  nowMs = 0;
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

function file(name: string, content: string): string {
  writeFileSync(join(directory, name), content);
  return join(directory, name);
}

function credentials(user: object, cluster: object = {}): Credentials {
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'team' } }],
    'current-context': 'x',
  };
  return new Credentials({ path: file('config', JSON.stringify(config)) }, () => nowMs);
}

async function tokenOf(from: Credentials): Promise<string | undefined> {
  return (await from.current()).headers['authorization'];
}

describe('a token file', () => {
  it('is read again after a minute and not before', async () => {
    file('token', 'one\n');
    const from = credentials({ tokenFile: 'token' });
    expect(await tokenOf(from)).toBe('Bearer one');
    file('token', 'two\n');
    nowMs = 59_999;
    expect(await tokenOf(from)).toBe('Bearer one');
    nowMs = 60_000;
    expect(await tokenOf(from)).toBe('Bearer two');
  });

  it('is read at once after a rejection of what is in use', async () => {
    file('token', 'one');
    const from = credentials({ tokenFile: 'token' });
    const identity = await from.current();
    file('token', 'two');
    nowMs = 1_000;
    from.reject(identity);
    expect(await tokenOf(from)).toBe('Bearer two');
  });

  it('is not read again for the rejection of an identity that was replaced already', async () => {
    file('token', 'one');
    const from = credentials({ tokenFile: 'token' });
    const old = await from.current();
    nowMs = 60_000;
    await from.current();
    file('token', 'two');
    nowMs = 61_000;
    from.reject(old);
    expect(await tokenOf(from)).toBe('Bearer one');
  });

  it('that vanishes for a moment leaves the last token in use', async () => {
    const token = file('token', 'one');
    const from = credentials({ tokenFile: 'token' });
    await from.current();
    rmSync(token);
    nowMs = 60_000;
    expect(await tokenOf(from)).toBe('Bearer one');
  });

  it('that was never there is a ConfigurationError naming it', async () => {
    const from = credentials({ tokenFile: 'token' });
    await expect(from.current()).rejects.toMatchObject({
      code: 'KUBE_CONFIGURATION',
      message: expect.stringContaining(join(directory, 'token')),
    });
  });

  it('beats a token in the same entry', async () => {
    file('token', 'from-file');
    expect(await tokenOf(credentials({ tokenFile: 'token', token: 'inline' }))).toBe('Bearer from-file');
  });
});

describe('TLS material', () => {
  it('is the same object as long as the files say the same, and a new one when they do not', async () => {
    file('ca.crt', 'CA1');
    file('me.crt', 'CERT1');
    file('me.key', 'KEY1');
    const from = credentials(
      { 'client-certificate': 'me.crt', 'client-key': 'me.key' },
      { 'certificate-authority': 'ca.crt' },
    );
    const first = await from.current();
    expect(first.tls).toEqual({ ca: 'CA1', cert: 'CERT1', key: 'KEY1' });
    nowMs = 60_000;
    expect((await from.current()).tls).toBe(first.tls);
    file('me.crt', 'CERT2');
    nowMs = 120_000;
    expect((await from.current()).tls).toMatchObject({ cert: 'CERT2' });
  });

  it('may come inline, with server name and without verification', async () => {
    const from = credentials(
      { 'client-certificate-data': btoa('CERT'), 'client-key-data': btoa('KEY') },
      { 'tls-server-name': 'api.internal', 'insecure-skip-tls-verify': true },
    );
    expect((await from.current()).tls).toEqual({
      cert: 'CERT',
      key: 'KEY',
      servername: 'api.internal',
      rejectUnauthorized: false,
    });
  });
});

describe('other ways to say who one is', () => {
  it('are a token, a user with a password, and impersonation', async () => {
    expect(await tokenOf(credentials({ token: 'inline' }))).toBe('Bearer inline');
    expect(await tokenOf(credentials({ username: 'me', password: 'pw' }))).toBe(`Basic ${btoa('me:pw')}`);
    const { headers } = await credentials({ token: 't', as: 'someone' }).current();
    expect(headers['impersonate-user']).toBe('someone');
  });

  it('the namespace is that of the context', () => {
    expect(credentials({ token: 't' }).namespace).toBe('team');
  });
});

describe('a credential plugin', () => {
  it('runs once for many simultaneous calls, and not again before its credential expires', async () => {
    const from = plugin('2999-01-01T00:00:00Z');
    const tokens = await Promise.all([tokenOf(from), tokenOf(from), tokenOf(from)]);
    expect(tokens).toEqual(['Bearer run-1', 'Bearer run-1', 'Bearer run-1']);
    nowMs = 3_600_000;
    expect(await tokenOf(from)).toBe('Bearer run-1');
    expect(runs()).toBe(1);
  });

  it('runs again when its credential has expired', async () => {
    const from = plugin('2001-01-01T00:00:00Z');
    await from.current();
    nowMs = 10_000;
    expect(await tokenOf(from)).toBe('Bearer run-2');
  });

  it('runs again after a rejection, but not for every one of a storm', async () => {
    const from = plugin('2999-01-01T00:00:00Z');
    const identity = await from.current();
    nowMs = 5_000;
    from.reject(identity);
    const fresh = await from.current();
    expect(fresh.headers['authorization']).toBe('Bearer run-2');
    for (let i = 0; i < 10; i++) {
      from.reject(fresh);
      await from.current();
    }
    expect(runs()).toBe(2);
  });

  it('that fails is a ConfigurationError with what it wrote', async () => {
    const script = file('bad.sh', '#!/bin/sh\necho "no login" >&2\nexit 1\n');
    chmodSync(script, 0o755);
    const from = credentials({ exec: { command: script } });
    await expect(from.current()).rejects.toMatchObject({
      code: 'KUBE_CONFIGURATION',
      message: expect.stringContaining('no login'),
    });
  });
});

function plugin(expires: string): Credentials {
  const script = join(directory, 'plugin.sh');
  const credential = JSON.stringify({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'TOKEN', expirationTimestamp: expires },
  }).replace('TOKEN', "run-'$runs'");
  writeFileSync(
    script,
    `#!/bin/sh\necho x >> ${directory}/runs\nruns=$(wc -l < ${directory}/runs | tr -d ' ')\necho '${credential}'\n`,
  );
  chmodSync(script, 0o755);
  return credentials({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command: script } });
}

function runs(): number {
  const log = join(directory, 'runs');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0;
}
