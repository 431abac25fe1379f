import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { isConnectionOf } from './connection.ts';
import { freePorts } from './ports.ts';

/** Only there the kernel lists connections in /proc. */
const linux = process.platform === 'linux' ? it : it.skip;

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function listen(): Promise<number> {
  const server: Server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

const held = `const [from, to] = process.argv.slice(-2).map(Number);
const local = { localAddress: '127.0.0.1', localPort: from };
require('node:net').connect({ host: '127.0.0.1', port: to, ...local }, () => console.log('connected'));`;

linux('tells whose a connection is, also where another process has one from the same port', async () => {
  const [one, other] = [await listen(), await listen()];
  const [fromPort = 0] = await freePorts(1);
  const mine = connect({
    host: '127.0.0.1',
    port: one,
    localAddress: '127.0.0.1',
    localPort: fromPort,
  });
  closing.push(() => mine.destroy());
  await once(mine, 'connect');
  const child = spawn(process.execPath, ['--eval', held, String(fromPort), String(other)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  closing.push(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');

  for (const [pid, toPort] of [
    [process.pid, one],
    [child.pid ?? 0, other],
  ] as const) {
    expect(isConnectionOf(pid, { fromPort, toPort })).toBe(true);
    expect(isConnectionOf(pid, { fromPort, toPort: toPort === one ? other : one })).toBe(false);
  }
});
