import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freePort } from '../process/ports.ts';
import { waitFor } from '../process/wait.ts';
import { type Proxy, startProxy } from './proxy.ts';

describe('the proxy', () => {
  const echo = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  let proxy: Proxy;
  let echoPort: number;
  beforeEach(async () => {
    echoPort = await freePort();
    echo.listen(echoPort, '127.0.0.1');
    await once(echo, 'listening');
    proxy = await startProxy(echoPort);
  });
  afterEach(async () => {
    await proxy.close();
    echo.close();
  });

  const client = async (): Promise<Socket> => {
    const socket = connect({ port: proxy.port, host: '127.0.0.1' });
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    return socket;
  };
  it('carries both directions to the end, and counts', async () => {
    const socket = await client();
    expect(await roundTrip(socket, 'hello')).toBe('hello');
    expect(proxy.connections).toBe(1);
    socket.end('bye');
    expect(await text(socket)).toBe('bye');
    await waitFor('the connection to be gone', () => proxy.connections === 0);
    (await client()).destroy();
    await waitFor('the second connection', () => proxy.totalConnections === 2);
  });

  it('resets what is open when it is cut, and lets new connections through', async () => {
    const socket = await client();
    await roundTrip(socket, 'a');
    const ended = ending(socket);
    proxy.cut();
    expect(await ended).toBe('ECONNRESET');
    expect(await roundTrip(await client(), 'b')).toBe('b');
  });

  it('holds everything back while it is blocked, and delivers it afterwards', async () => {
    const before = await client();
    await roundTrip(before, 'a');
    proxy.block();
    const during = await client();
    let delivered = 0;
    const answers = [roundTrip(before, 'b'), roundTrip(during, 'c')].map((answer) =>
      answer.finally(() => delivered++),
    );
    const direct = connect({ port: echoPort, host: '127.0.0.1' });
    await roundTrip(direct, 'd');
    direct.destroy();
    expect(delivered).toBe(0);
    proxy.resume();
    expect(await Promise.all(answers)).toEqual(['b', 'c']);
  });

  it('cuts also what its target has ended, while it holds back the last of it', async () => {
    const accepted = once(echo, 'connection');
    const socket = await client();
    await roundTrip(socket, 'a');
    const [atTarget] = (await accepted) as [Socket];
    socket.end('b');
    await once(atTarget, 'data');
    proxy.block();
    await once(atTarget, 'close');
    const direct = connect({ port: echoPort, host: '127.0.0.1' });
    await roundTrip(direct, 'c');
    direct.destroy();
    const ended = ending(socket);
    proxy.cut();
    expect(await ended).toBe('ECONNRESET');
  });

  it('resets new connections while it refuses', async () => {
    proxy.refuse();
    const socket = connect({ port: proxy.port, host: '127.0.0.1' });
    expect(await ending(socket)).toBe('ECONNRESET');
    proxy.resume();
    expect(await roundTrip(await client(), 'a')).toBe('a');
  });

  it('delays each way', async () => {
    const socket = await client();
    proxy.slow(60);
    const start = performance.now();
    await roundTrip(socket, 'a');
    expect(performance.now() - start).toBeGreaterThan(100);
    proxy.resume();
  });
});

const roundTrip = async (socket: Socket, message: string): Promise<string> => {
  socket.write(message);
  const [answer] = await once(socket, 'data');
  return String(answer);
};
const ending = (socket: Socket): Promise<string> =>
  once(socket, 'data').then(
    () => 'data',
    (error: NodeJS.ErrnoException) => error.code ?? 'error',
  );
