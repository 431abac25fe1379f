import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import supertest from 'supertest';
import type { HttpServer } from '../http/server.ts';
import { announcement } from '../lifecycle/announcement.ts';
import { Lifecycle } from '../lifecycle/lifecycle.ts';
import { Metrics } from '../metrics/registry.ts';
import { MemoryLogger } from '../testing/logger.ts';
import { until } from '../testing/until.ts';
import { EventLoop } from './event-loop.ts';
import { debugServer, healthServer, metricsServer } from './servers.ts';

const logger = new MemoryLogger();
const stops: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function started(server: HttpServer): Promise<HttpServer> {
  await server.start();
  stops.push(() => server.stop());
  return server;
}

describe('the health server', () => {
  let lifecycle: Lifecycle;
  let eventLoop: EventLoop;
  let server: HttpServer;
  const get = (path: string) => supertest(`http://127.0.0.1:${server.port}`).get(path);

  beforeEach(async () => {
    lifecycle = new Lifecycle(logger);
    eventLoop = new EventLoop({ maxLagMs: 50, windowMs: 200 });
    server = healthServer({ port: 0, eventLoop, readiness: lifecycle.readiness, logger });
    lifecycle.add(eventLoop, server);
    await lifecycle.start();
  });

  afterEach(() => lifecycle.stop());

  it('says ok when everything is, with the checks when asked', async () => {
    expect(await get('/readyz')).toMatchObject({ status: 200, text: 'ok\n' });
    expect(await get('/readyz?verbose')).toMatchObject({ status: 200, text: '[+] lifecycle\nok\n' });
    expect(await get('/healthz')).toMatchObject({ status: 200, text: 'ok\n' });
    expect((await get('/healthz?verbose=1')).text).toMatch(/^\[\+\] event-loop: \d+ ms late\nok\n$/);
  });

  it('tells what is worth knowing of a check that passes, when asked', async () => {
    lifecycle.readiness.add('ledger', () => ({ note: 'inside the process' }));
    expect(await get('/readyz')).toMatchObject({ status: 200, text: 'ok\n' });
    expect((await get('/readyz?verbose')).text).toBe('[+] lifecycle\n[+] ledger: inside the process\nok\n');
  });

  it('always names the readiness check that fails', async () => {
    lifecycle.readiness.add('caches', () => 'listing pods');
    expect(await get('/readyz')).toMatchObject({ status: 503, text: '[-] caches: listing pods\nnot ok\n' });
    expect((await get('/readyz?verbose')).text).toBe('[+] lifecycle\n[-] caches: listing pods\nnot ok\n');
    expect(await get('/healthz')).toMatchObject({ status: 200 });
  });

  it('calls the process dead while the event loop is starved, and alive again after', async () => {
    const starve = setInterval(() => {
      const end = performance.now() + 120;
      while (performance.now() < end);
    }, 1);
    try {
      await until('lag', () => !eventLoop.alive);
      expect((await get('/healthz')).status).toBe(503);
    } finally {
      clearInterval(starve);
    }
    await until('recovery', () => eventLoop.alive);
    expect((await get('/healthz')).status).toBe(200);
  });
});

describe('a stop', () => {
  it('makes /readyz fail while the servers before it are still up', async () => {
    const lifecycle = new Lifecycle(logger);
    const eventLoop = new EventLoop();
    const server = healthServer({ port: 0, eventLoop, readiness: lifecycle.readiness, logger });
    const seen: unknown[] = [];
    const last = {
      name: 'last',
      stop: async () => {
        const { status, text } = await supertest(`http://127.0.0.1:${server.port}`).get('/readyz');
        seen.push(status, text);
      },
    };
    lifecycle.add(eventLoop, server, last);
    await lifecycle.start();
    await lifecycle.stop();
    expect(seen).toEqual([503, '[-] lifecycle: stopping\nnot ok\n']);
  });
});

describe('the metrics server', () => {
  it('serves the exposition format of Prometheus', async () => {
    const metrics = new Metrics();
    metrics.counter({ type: 'counter', name: 'a_total', labels: [], help: 'A.' }).touch({});
    const server = await started(metricsServer({ port: 0, exposition: metrics, logger }));
    const { headers, text } = await supertest(`http://127.0.0.1:${server.port}`).get('/metrics');
    expect(headers['content-type']).toContain('text/plain; version=0.0.4');
    expect(text).toContain('# TYPE a_total counter\na_total 0\n');
  });

  it('tells of a page that could not be written, and not of a reader who left', async () => {
    const told = new MemoryLogger();
    const pages: string[] = [];
    const exposition = {
      contentType: 'text/plain',
      async *page() {
        yield 'a_total 0\n';
        if (pages.length > 0) throw new Error('no numbers');
        try {
          for (;;) yield await nextTurn('b_total 0\n');
        } finally {
          pages.push('without an end');
        }
      },
    };
    const server = await started(metricsServer({ port: 0, exposition, logger: told }));
    const url = `http://127.0.0.1:${server.port}`;
    const leaving = new AbortController();
    const response = await fetch(`${url}/metrics`, { signal: leaving.signal });
    leaving.abort();
    await expect(response.text()).rejects.toThrow('aborted');
    await until('the end of the page', () => pages.length > 0);
    await expect(supertest(url).get('/metrics')).rejects.toThrow(/aborted|hang up/);
    const failures = () => told.lines.filter(({ level }) => level === 'error');
    await until('the failed page', () => failures().length > 0);
    expect(failures().map(({ fields }) => String(fields['error']))).toEqual(['Error: no numbers']);
  });
});

describe('the debug server', () => {
  it('serves the state on 127.0.0.1 and on no other address', async () => {
    const { port } = await started(debugServer({ port: 0, state: () => ({ workloads: 3 }), logger }));
    expect((await supertest(`http://127.0.0.1:${port}`).get('/debug/state')).body).toEqual({ workloads: 3 });
    const others = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const address =
      others.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.2';
    const outcome = announcement<string | undefined>();
    const socket = connect(port, address)
      .on('connect', () => outcome.make('connected'))
      .on('error', (error: NodeJS.ErrnoException) => outcome.make(error.code));
    stops.unshift(() => socket.destroy());
    expect(await outcome.made).toBe('ECONNREFUSED');
  });
});
