import { afterEach, describe, expect, it } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { Agent, get } from 'node:https';
import { connect, Server } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import supertest from 'supertest';
import { createAuthority, issueLeaf, type KeyPair } from '../certificates/issue.ts';
import { CertificateHolder } from '../certificates/source.ts';
import { announcement } from '../lifecycle/announcement.ts';
import { MemoryLogger } from '../testing/logger.ts';
import { until } from '../testing/until.ts';
import { type DrainTimes, HttpServer } from './server.ts';

const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
const logger = new MemoryLogger();
const stops: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function serve(handler: RequestListener, drain?: DrainTimes) {
  const authority = await createAuthority({ commonName: 'test CA', ...validity });
  const makeLeaf = (): Promise<KeyPair> =>
    issueLeaf(authority, { names: ['localhost', '127.0.0.1'], ...validity });
  const certificates = new CertificateHolder();
  certificates.set(await makeLeaf());
  const options = { name: 'webhook', host: '127.0.0.1', port: 0, handler, certificates, logger };
  const server = new HttpServer({ ...options, ...(drain === undefined ? {} : { drain }) });
  await server.start();
  stops.push(() => server.stop());
  const agent = new Agent({ keepAlive: true, ca: authority.cert, maxSockets: 64 });
  stops.push(() => agent.destroy());
  return { server, agent, makeLeaf, certificates, ca: authority.cert };
}

interface Answer {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly reused: boolean;
  readonly fingerprint: string | undefined;
}

const ask = (server: HttpServer, agent: Agent, path = '/'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port: server.port, path, agent }, (response) => {
      const { socket } = response;
      const fingerprint =
        socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint256 : undefined;
      response.resume().on('end', () => {
        const { statusCode: status, headers } = response;
        resolve({ status, connection: headers.connection, reused: request.reusedSocket, fingerprint });
      });
    });
    request.on('error', reject);
  });

const answerAtOnce: RequestListener = (_request, response) => response.end('ok');

describe('a TLS server', () => {
  it('serves express or plain handlers with a certificate its CA vouches for', async () => {
    const { server, ca } = await serve(answerAtOnce);
    const response = await supertest(`https://127.0.0.1:${server.port}`).get('/').ca(ca);
    expect(response.text).toBe('ok');
  });

  it('speaks HTTP/1.1 only, whatever the client would rather have', async () => {
    const { server, ca } = await serve(answerAtOnce);
    const socket = connectTls({
      host: '127.0.0.1',
      port: server.port,
      ca,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    const connected = announcement<void>();
    socket.once('secureConnect', () => connected.make());
    await connected.made;
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.destroy();
  });

  it('takes up no session again, which no API server asks for', async () => {
    const { server, ca } = await serve(answerAtOnce);
    const first = connectTls({ host: '127.0.0.1', port: server.port, ca });
    const offered = announcement<Buffer>();
    first.once('session', (session) => offered.make(session));
    const again = connectTls({ host: '127.0.0.1', port: server.port, ca, session: await offered.made });
    const connected = announcement<void>();
    again.once('secureConnect', () => connected.make());
    await connected.made;
    expect(again.isSessionReused()).toBe(false);
    first.destroy();
    again.destroy();
  });

  it('does not start without a certificate', async () => {
    const certificates = new CertificateHolder();
    const server = new HttpServer({ name: 'webhook', port: 0, handler: answerAtOnce, certificates, logger });
    await expect(server.start()).rejects.toMatchObject({ code: 'CERTIFICATE_MISSING' });
  });

  it('says in one line that its port is taken', async () => {
    const { server } = await serve(answerAtOnce);
    const second = new HttpServer({
      name: 'second',
      host: '127.0.0.1',
      port: server.port,
      handler: answerAtOnce,
      logger,
    });
    await expect(second.start()).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: `second: 127.0.0.1:${server.port} is already in use by another process; free it or configure another port`,
    });
    await second.stop();
  });

  it('goes on when a connection could not be accepted', async () => {
    const { server, agent } = await serve((request, response) => {
      // As Node tells it when the process has no file descriptor left.
      if (request.url === '/full' && 'server' in request.socket && request.socket.server instanceof Server) {
        request.socket.server.emit('error', new Error('accept EMFILE'));
      }
      response.end('ok');
    });
    expect((await ask(server, agent, '/full')).status).toBe(200);
    expect(logger.lines.at(-1)).toMatchObject({ level: 'error', message: 'a connection was not accepted' });
    expect((await ask(server, agent)).status).toBe(200);
  });

  it('takes over a new certificate under load without a failed request or a closed connection', async () => {
    const { server, agent, makeLeaf, certificates } = await serve(answerAtOnce);
    const next = await makeLeaf();
    let swapped = false;
    const answers: Answer[] = [];
    const load = Promise.all(
      Array.from({ length: 8 }, async () => {
        const afterwards = () => swapped && answers.length > 400;
        while (!afterwards()) answers.push(await ask(server, agent));
      }),
    );
    await until('some load', () => answers.length > 100);
    certificates.set(next);
    swapped = true;
    await load;
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(answers.filter(({ reused }) => !reused)).toHaveLength(8);

    const fresh = new Agent({ ca: agent.options.ca ?? '' });
    const before = new Set(answers.map(({ fingerprint }) => fingerprint));
    expect(before.has((await ask(server, fresh)).fingerprint)).toBe(false);
  });

  it('refuses a pair that does not fit and goes on with the old one', async () => {
    const { server, agent, makeLeaf, certificates } = await serve(answerAtOnce);
    const [one, other] = await Promise.all([makeLeaf(), makeLeaf()]);
    expect(() => certificates.set({ cert: one.cert, key: other.key })).toThrow('does not belong');
    expect((await ask(server, agent)).status).toBe(200);
  });
});

describe('a drain', () => {
  it('lets what is under way finish and tells its client to leave', async () => {
    const entered = announcement<void>();
    const goOn = announcement<void>();
    const { server, agent } = await serve((_request, response) => {
      entered.make();
      void goOn.made.then(() => response.end('late'));
    });
    const slow = ask(server, agent);
    await entered.made;
    const stopped = server.stop();
    goOn.make();
    expect(await slow).toMatchObject({ status: 200, connection: 'close' });
    await stopped;
  });

  it('serves new and reused connections during the grace, each told to close, then none', async () => {
    const { server, agent } = await serve(answerAtOnce, { graceMs: 150, deadlineMs: 1_000 });
    expect(await ask(server, agent)).toMatchObject({ connection: 'keep-alive' });
    const { port } = server;
    const stopped = server.stop();
    expect(await ask(server, agent)).toMatchObject({ status: 200, reused: true, connection: 'close' });
    expect(await ask(server, agent)).toMatchObject({ status: 200, reused: false, connection: 'close' });
    await stopped;
    const refused = announcement<string | undefined>();
    connect(port, '127.0.0.1').on('error', (error: NodeJS.ErrnoException) => refused.make(error.code));
    expect(await refused.made).toBe('ECONNREFUSED');
  });

  it('loses no request of clients under load, and ends well before the deadline', async () => {
    const { server, agent } = await serve(answerAtOnce, { graceMs: 200, deadlineMs: 5_000 });
    const answers: Answer[] = [];
    const leave = new AbortController();
    const load = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (!leave.signal.aborted) answers.push(await ask(server, agent));
      }),
    );
    await until('some load', () => answers.length > 100);
    const beganMs = performance.now();
    const stopped = server.stop();
    // As a client does that saw /readyz fail.
    await until('answers that say close', () => answers.at(-1)?.connection === 'close');
    leave.abort();
    await load;
    await stopped;
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(performance.now() - beganMs).toBeLessThan(2_000);
  });

  it('closes a connection as soon as the answer it had begun before is sent', async () => {
    const begun = announcement<void>();
    const goOn = announcement<void>();
    const times = { graceMs: 0, deadlineMs: 10_000 };
    const { server, agent } = await serve((_request, response) => {
      response.flushHeaders();
      begun.make();
      void goOn.made.then(() => response.end('late'));
    }, times);
    const slow = ask(server, agent);
    await begun.made;
    const beganMs = performance.now();
    const stopped = server.stop();
    goOn.make();
    expect(await slow).toMatchObject({ status: 200, connection: 'keep-alive' });
    await stopped;
    expect(performance.now() - beganMs).toBeLessThan(3_000);
  });

  it('closes idle keep-alive connections', async () => {
    const { server, agent } = await serve(answerAtOnce);
    await ask(server, agent);
    expect(Object.keys(agent.freeSockets)).toHaveLength(1);
    await server.stop();
    await until('the idle connection closed', () => Object.keys(agent.freeSockets).length === 0);
  });

  // Go dials ahead: when another connection is free first, the new one waits in its pool.
  it('closes connections that have never carried a request', async () => {
    const { server, ca } = await serve(answerAtOnce, { graceMs: 0, deadlineMs: 10_000 });
    const socket = connectTls({ host: '127.0.0.1', port: server.port, ca });
    const connected = announcement<void>();
    const closed = announcement<void>();
    socket.once('secureConnect', () => connected.make());
    socket.once('close', () => closed.make());
    socket.resume();
    await connected.made;
    const beganMs = performance.now();
    await server.stop();
    await closed.made;
    expect(performance.now() - beganMs).toBeLessThan(3_000);
  });

  it('cuts what is left at the deadline', async () => {
    const entered = announcement<void>();
    const { server, agent } = await serve(() => entered.make(), { graceMs: 0, deadlineMs: 50 });
    const hanging = ask(server, agent).catch((error: NodeJS.ErrnoException) => error.code);
    await entered.made;
    await server.stop();
    expect(await hanging).toBe('ECONNRESET');
    expect(logger.lines.at(-1)).toMatchObject({ level: 'warn', fields: { server: 'webhook', requests: 1 } });
  });

  it('cuts at the deadline whoever connected and never began to speak TLS', async () => {
    const { server } = await serve(answerAtOnce, { graceMs: 0, deadlineMs: 50 });
    const closed = announcement<void>();
    const socket = connect({ host: '127.0.0.1', port: server.port });
    stops.push(() => socket.destroy());
    socket.on('error', () => undefined);
    socket.once('close', () => closed.make());
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    await server.stop();
    await closed.made;
  });
});
