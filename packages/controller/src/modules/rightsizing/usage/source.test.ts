import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createAuthority, issueLeaf } from '@spotalis/runtime';
import { json, silence, startUsageServer, text, type UsageServer } from '../../../testing/usage-server.ts';
import { type SourceOptions, UsageSource } from './source.ts';

const request = { path: '/api/v1/query', form: { query: 'up' }, asked: 'up' };

describe('a source of usage', () => {
  let server: UsageServer;
  let dir: string;
  const sources: UsageSource[] = [];
  beforeEach(async () => {
    server = await startUsageServer(json({ fine: true }));
    dir = mkdtempSync(join(tmpdir(), 'source-'));
  });
  afterEach(async () => {
    await Promise.all(sources.splice(0).map((one) => one.close()));
    await server.close();
    rmSync(dir, { recursive: true });
  });

  function source(options: Partial<SourceOptions> = {}): UsageSource {
    const one = new UsageSource({ name: 'prometheus', url: server.url, ...options });
    sources.push(one);
    return one;
  }
  function file(name: string, content: string): string {
    writeFileSync(join(dir, name), content);
    return join(dir, name);
  }
  const problemOf = async (one: UsageSource) => {
    const answer = await one.json(request);
    if (answer.kind !== 'failed') throw new Error('it did not fail');
    return answer.problem;
  };

  it('is asked below the path of its URL, by POST where the query may be long', async () => {
    expect(await source({ url: `${server.url}/prom/` }).json(request)).toMatchObject({
      json: { fine: true },
    });
    const [asked] = server.asked;
    expect([asked?.method, asked?.url.pathname, asked?.form.get('query')]).toEqual([
      'POST',
      '/prom/api/v1/query',
      'up',
    ]);
  });

  it('gets the user of its URL, and headers, and no message shows the password', async () => {
    const url = server.url.replace('//', '//me:s%3Acret@');
    const one = source({ url, headers: { 'X-Scope-OrgID': 'team' } });
    server.reply = text('no', 500);
    expect((await problemOf(one)).message).not.toContain('cret');
    const [asked] = server.asked;
    expect(asked?.headers['authorization']).toBe(`Basic ${Buffer.from('me:s:cret').toString('base64')}`);
    expect(asked?.headers['x-scope-orgid']).toBe('team');
  });

  it('gets the token of the file, and the new one after a minute or a 401', async () => {
    let nowMs = 0;
    const tokenFile = file('token', 'one\n');
    const one = source({ tokenFile, now: () => nowMs });
    const shown = async () => {
      await one.json(request);
      return server.asked.at(-1)?.headers['authorization'];
    };
    expect(await shown()).toBe('Bearer one');
    file('token', 'two');
    expect(await shown()).toBe('Bearer one');
    nowMs = 60_000;
    expect(await shown()).toBe('Bearer two');
    file('token', 'three');
    server.reply = text('', 401);
    expect(await shown()).toBe('Bearer two');
    expect(await shown()).toBe('Bearer three');
  });

  it('fails with the missing file, and is well once it is there', async () => {
    const one = source({ tokenFile: join(dir, 'token') });
    const { reason, message } = await problemOf(one);
    expect([reason, message]).toEqual(['Credentials', expect.stringContaining(join(dir, 'token'))]);
    expect(server.asked).toEqual([]);
    file('token', 'one');
    expect(await one.json(request)).toMatchObject({ kind: 'answered' });
  });

  it('keeps the token that it has while the file is away', async () => {
    let nowMs = 0;
    const one = source({ tokenFile: file('token', 'one'), now: () => nowMs });
    await one.json(request);
    rmSync(join(dir, 'token'));
    nowMs = 60_000;
    expect(await one.json(request)).toMatchObject({ kind: 'answered' });
    expect(server.asked.at(-1)?.headers['authorization']).toBe('Bearer one');
  });

  it('has a URL of HTTP', () => {
    expect(() => source({ url: 'ftp://example.com' })).toThrow('ftp://example.com is not http or https');
  });

  it('fails where the token is no token', async () => {
    expect(await problemOf(source({ tokenFile: file('token', 'a\nb') }))).toMatchObject({
      reason: 'Credentials',
    });
  });

  it('fails with what it answered and what it was asked', async () => {
    server.reply = json({ status: 'error', errorType: 'bad_data', error: 'parse error\nat char 1' }, 400);
    const { reason, message } = await problemOf(source());
    expect(reason).toBe('Refused');
    expect(message).toBe(
      `prometheus at ${server.url} answers 400: {"status":"error","errorType":"bad_data","error":"parse error\\nat char 1"} (asked: up)`,
    );
  });

  it('fails with an excerpt of one line', async () => {
    server.reply = text(`<html>\n\u001b[31m${'x'.repeat(10_000)}`);
    const { reason, message } = await problemOf(source());
    expect(reason).toBe('Malformed');
    // eslint-disable-next-line no-control-regex
    expect(message).not.toMatch(/[\n\u001b]/);
    expect(message.length).toBeLessThan(400);
  });

  it('fails without reading on where the answer is too large', async () => {
    let isClosed: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (isClosed = resolve));
    server.reply = (_asked, response) => {
      response.on('close', isClosed);
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(65_536), more);
      };
      more();
    };
    expect(await problemOf(source({ maxBytes: 1_000_000 }))).toMatchObject({ reason: 'TooLarge' });
    await closed;
  });

  it('fails when its time is over, before the answer or within', async () => {
    server.reply = silence;
    expect(await problemOf(source({ deadlineMs: 50 }))).toMatchObject({ reason: 'Late' });
    server.reply = (_asked, response) => void response.write('{"half":');
    expect(await problemOf(source({ deadlineMs: 50 }))).toMatchObject({ reason: 'Late' });
  });

  it('fails in time where the connection is never made', async () => {
    const mute = createTcpServer();
    const sockets: Socket[] = [];
    mute.on('connection', (socket) => sockets.push(socket));
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}`;
    expect(await problemOf(source({ url, deadlineMs: 50 }))).toMatchObject({ reason: 'Late' });
    mute.close();
    for (const socket of sockets) socket.destroy();
  });

  it('fails where nobody listens, and where the connection breaks', async () => {
    server.reply = (_asked, response) => void response.socket?.resetAndDestroy();
    expect(await problemOf(source())).toMatchObject({ reason: 'Unreachable' });
    const gone = await startUsageServer(silence);
    await gone.close();
    expect(await problemOf(source({ url: gone.url }))).toMatchObject({ reason: 'Unreachable' });
  });

  it('does not follow to another address', async () => {
    server.reply = (_asked, response) => response.writeHead(302, { location: 'http://127.0.0.1:1' }).end();
    expect(await problemOf(source())).toMatchObject({ reason: 'Refused' });
  });

  it('is believed over TLS by the CA of the file, and by no other', async () => {
    const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
    const authority = await createAuthority({ commonName: 'test', ...validity });
    const leaf = await issueLeaf(authority, { names: ['127.0.0.1'], ...validity });
    const secure = createServer(leaf, (_request, response) => response.end('{"secure":true}'));
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
    const trusting = source({ url, caFile: file('ca.crt', authority.cert) });
    expect(await trusting.json(request)).toMatchObject({ json: { secure: true } });
    expect(await problemOf(source({ url }))).toMatchObject({ reason: 'Unreachable' });
    secure.closeAllConnections();
    secure.close();
  });
});
