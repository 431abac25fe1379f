import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Credentials } from '../configuration/credentials.ts';
import { ApiError } from '../errors.ts';
import {
  type Answer,
  credentialsFor,
  json,
  reset,
  ScriptedServer,
  silence,
  status,
} from '../testing/scripted-server.ts';
import { type ObservedRequest, Transport } from './transport.ts';

const running: { close(): Promise<void> }[] = [];

async function serve(script: Answer | readonly Answer[]): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script);
  running.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.close()));
});

const get = { verb: 'GET', path: '/api/v1/pods' } as const;
const post = { verb: 'POST', path: '/api/v1/pods', body: { kind: 'Pod' } } as const;

describe('Transport.request', () => {
  it('repeats a GET after 500, 503 and a reset, and returns the answer that follows', async () => {
    const server = await serve([
      status(500, ''),
      status(503, 'ServiceUnavailable'),
      reset,
      json({ ok: true }),
    ]);
    expect(await server.transport().request(get)).toEqual({ ok: true });
    expect(server.requests).toHaveLength(4);
  });

  it('begins nothing any more once it is closed, and does not wait to repeat anything', async () => {
    const server = await serve(json({}, 503, { 'retry-after': '20' }));
    let answered = (): void => undefined;
    const answer = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const transport = server.transport({ observe: () => answered() });
    const aborted = { code: 'KUBE_ABORTED' };
    const end = transport.request(get).catch((error: unknown) => error);
    await answer;
    await transport.close();
    expect(await end).toMatchObject(aborted);
    await expect(transport.request(get)).rejects.toMatchObject(aborted);
    await expect(transport.stream(get, { deadlineMs: 1_000 })).rejects.toMatchObject(aborted);
    expect(server.requests).toHaveLength(1);
  });

  it('does not repeat a POST that the server may have carried out', async () => {
    for (const answer of [status(500, 'InternalError'), reset]) {
      const server = await serve([answer, json({})]);
      await expect(server.transport().request(post)).rejects.toMatchObject({ retryable: true });
      expect(server.requests).toHaveLength(1);
    }
  });

  it('repeats a POST that was turned away with a Retry-After, and waits as long as it says', async () => {
    const server = await serve([json({}, 429, { 'retry-after': '1' }), json({ created: true }, 201)]);
    const startedMs = performance.now();
    expect(await server.transport().request(post)).toEqual({ created: true });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(990);
  });

  it('gives the server its own answer back when Retry-After lies behind the deadline', async () => {
    const server = await serve(json({}, 429, { 'retry-after': '60' }));
    await expect(server.transport().request(get, { deadlineMs: 2_000 })).rejects.toMatchObject({
      status: 429,
      retryAfterMs: 60_000,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('repeats even a POST when the connection was refused, because nothing can have been sent', async () => {
    const server = await serve(json({ created: true }));
    const transport = server.transport();
    const port = Number(new URL(server.url).port);
    await server.close();
    running.length = 0;
    const request = transport.request(post);
    const second = createServer((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}');
    }).listen(port, '127.0.0.1');
    running.push({ close: async () => void second.close() });
    await expect(request).resolves.toEqual({});
  });

  it('does not repeat what was refused for good', async () => {
    const server = await serve([status(403, 'Forbidden'), json({})]);
    await expect(server.transport().request(get)).rejects.toMatchObject({ status: 403, retryable: false });
    expect(server.requests).toHaveLength(1);
  });

  it('leaves a connection that hangs and succeeds on another within the same deadline', async () => {
    const server = await serve([silence, json({ ok: true })]);
    const transport = server.transport({ attemptMs: 100 });
    await expect(transport.request(get, { deadlineMs: 5_000 })).resolves.toEqual({ ok: true });
    expect(server.connections).toBeGreaterThan(1);
  });

  it('ends with DeadlineError naming the request when nothing ever answers', async () => {
    const server = await serve(silence);
    const request = server.transport({ attemptMs: 20 }).request(get, { deadlineMs: 1_000 });
    await expect(request).rejects.toMatchObject({
      code: 'KUBE_DEADLINE',
      message: expect.stringContaining('GET /api/v1/pods'),
    });
    expect(server.requests.length).toBeGreaterThan(1);
  });

  it('stops waiting for the next attempt when the caller aborts', async () => {
    const controller = new AbortController();
    const server = await serve((request, response) => {
      status(503, '')(request, response);
      setImmediate(() => controller.abort());
    });
    await expect(server.transport().request(get, { signal: controller.signal })).rejects.toMatchObject({
      code: 'KUBE_ABORTED',
    });
  });
});

describe('Transport.call', () => {
  it('makes one attempt only', async () => {
    const server = await serve([status(503, 'ServiceUnavailable'), json({})]);
    await expect(server.transport().call(get, { deadlineMs: 1_000 })).rejects.toBeInstanceOf(ApiError);
    expect(server.requests).toHaveLength(1);
  });

  it('counts the body into the deadline', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200);
      response.write('{"half":');
    });
    await expect(server.transport().call(get, { deadlineMs: 100 })).rejects.toMatchObject({
      code: 'KUBE_DEADLINE',
    });
  });

  it('reports a body that was cut off as a connection error, not as a result', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"half":', () => response.socket?.resetAndDestroy());
    });
    await expect(server.transport().call(get, { deadlineMs: 1_000 })).rejects.toMatchObject({
      code: 'KUBE_CONNECTION',
    });
  });

  it('obeys a signal that was aborted before and one that aborts midway', async () => {
    const server = await serve(silence);
    const before = AbortSignal.abort();
    await expect(server.transport().call(get, { deadlineMs: 1_000, signal: before })).rejects.toMatchObject({
      code: 'KUBE_ABORTED',
    });
    const controller = new AbortController();
    const pending = server.transport().call(get, { deadlineMs: 1_000, signal: controller.signal });
    setImmediate(() => controller.abort());
    await expect(pending).rejects.toMatchObject({ code: 'KUBE_ABORTED' });
  });

  it('has status, reason, message and causes of a Status', async () => {
    const causes = [{ reason: 'DisruptionBudget', message: 'needs 3 healthy pods' }];
    const server = await serve(
      status(429, 'TooManyRequests', 'Cannot evict', { details: { causes, retryAfterSeconds: 7 } }),
    );
    const error = await server
      .transport()
      .call(get, { deadlineMs: 1_000 })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'KUBE_API',
      status: 429,
      reason: 'TooManyRequests',
      statusMessage: 'Cannot evict',
      causes,
      retryable: true,
      retryAfterMs: 7_000,
    });
  });

  it('understands an answer that is no Status', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(502).end('<html>bad gateway</html>');
    });
    await expect(server.transport().call(get, { deadlineMs: 1_000 })).rejects.toMatchObject({
      status: 502,
      reason: '',
      statusMessage: '<html>bad gateway</html>',
    });
  });
});

describe('a fence', () => {
  it('keeps a write from being sent that waited for a connection while it closed', async () => {
    let open = true;
    const held: (() => void)[] = [];
    const server = await serve((request, response) => {
      held.push(() => json({})(request, response));
    });
    const transport = server.transport({ connections: 1 });
    const first = transport.call(get, { deadlineMs: 5_000 });
    const second = transport.call(post, { deadlineMs: 5_000, fence: () => open });
    const outcome = second.catch((thrown: unknown) => thrown);
    await until(() => held.length === 1);
    open = false;
    held[0]!();
    await first;
    expect(await outcome).toMatchObject({ code: 'KUBE_FENCE_CLOSED', retryable: false });
    expect(server.requests.map((request) => request.method)).toEqual(['GET']);
  });

  it('is asked again for every attempt', async () => {
    let open = true;
    const server = await serve((request, response) => {
      open = false;
      json({}, 429, { 'retry-after': '0' })(request, response);
    });
    await expect(server.transport().request(post, { fence: () => open })).rejects.toMatchObject({
      code: 'KUBE_FENCE_CLOSED',
    });
    expect(server.requests).toHaveLength(1);
  });

  it('lets through while it is open', async () => {
    const server = await serve(json({ done: true }));
    await expect(server.transport().call(post, { deadlineMs: 1_000, fence: () => true })).resolves.toEqual({
      done: true,
    });
  });
});

describe('credentials in use', () => {
  it('are read again after a 401, and the request is repeated with the new token', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'kube-'));
    const tokenFile = join(directory, 'token');
    const kubeconfig = join(directory, 'config');
    writeFileSync(tokenFile, 'old');
    const server = await serve((request, response) => {
      writeFileSync(tokenFile, 'new\n');
      const good = request.headers.authorization === 'Bearer new';
      (good ? json({ ok: true }) : status(401, 'Unauthorized'))(request, response);
    });
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user: { tokenFile: 'token' } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    );
    let nowMs = 0;
    const credentials = new Credentials({ path: kubeconfig }, () => nowMs);
    const transport = new Transport({ credentials, userAgent: 'test' });
    await credentials.current();
    nowMs += 200;
    await expect(transport.call(post, { deadlineMs: 1_000 })).resolves.toEqual({ ok: true });
    expect(server.requests).toHaveLength(2);
    rmSync(directory, { recursive: true });
  });

  it('that stay the same let the 401 through after one attempt', async () => {
    const server = await serve(status(401, 'Unauthorized'));
    await expect(server.transport().call(get, { deadlineMs: 1_000 })).rejects.toMatchObject({ status: 401 });
    expect(server.requests).toHaveLength(1);
  });
});

describe('the observer', () => {
  it('sees every attempt with its code, and <error> where there was no answer', async () => {
    const seen: ObservedRequest[] = [];
    const server = await serve([status(503, ''), reset, json({}, 201)]);
    await server.transport({ observe: (request) => seen.push(request) }).request(get);
    expect(seen.map(({ code }) => code)).toEqual(['503', '<error>', '201']);
    expect(seen[0]).toMatchObject({ verb: 'GET', host: new URL(server.url).host });
  });
});

describe('the pool', () => {
  it('makes 1,000 concurrent calls on no more connections than it may have', async () => {
    const server = await serve(json({}));
    const transport = server.transport({ connections: 4 });
    await Promise.all(Array.from({ length: 1_000 }, () => transport.call(get, { deadlineMs: 10_000 })));
    expect(server.requests).toHaveLength(1_000);
    expect(server.connections).toBeLessThanOrEqual(4);
  });

  it('keeps the path of a server that lives behind one', async () => {
    const server = await serve(json({}));
    const transport = new Transport({
      credentials: credentialsFor(`${server.url}/k8s/c-1`),
      userAgent: 'test',
    });
    await transport.call(get, { deadlineMs: 1_000 });
    expect(server.requests[0]?.url.pathname).toBe('/k8s/c-1/api/v1/pods');
  });
});

async function until(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + 5_000;
  while (!condition()) {
    if (performance.now() > endMs) {
      throw new Error('condition not met within 5 s');
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
