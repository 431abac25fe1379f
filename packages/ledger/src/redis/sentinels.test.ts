import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { ImpatientSentinels } from './sentinels.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(connected: (socket: Socket) => void): Promise<number> {
  const server = createServer(connected);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Answers of a Sentinel to the commands of one chunk. */
function answers(chunk: string, primary: number): string {
  return [...chunk.matchAll(/(get-master-addr-by-name|subscribe|sentinels|setinfo)/gi)]
    .map(([command]) => {
      switch (command.toLowerCase()) {
        case 'get-master-addr-by-name':
          return `*2\r\n$9\r\n127.0.0.1\r\n$${String(primary).length}\r\n${primary}\r\n`;
        case 'sentinels':
          return '*0\r\n';
        case 'subscribe':
          return '*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n';
        default:
          return '+OK\r\n';
      }
    })
    .join('');
}

it('that end while the primary is being connected keep no connection to a Sentinel', async () => {
  const primary = await listen((socket) => void socket.on('error', () => undefined));
  const open = new Set<Socket>();
  const sentinel = await listen((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => undefined);
    socket.setEncoding('utf8').on('data', (chunk) => void socket.write(answers(String(chunk), primary)));
  });
  const sentinels = new ImpatientSentinels({
    name: 'primary',
    sentinels: [{ host: '127.0.0.1', port: sentinel }],
    failoverDetector: true,
    sentinelMaxConnections: 3,
    sentinelReconnectStrategy: () => 10,
    role: 'master',
    connectTimeout: 5_000,
    protocol: 2,
  });
  const stream = await sentinels.connect(() => undefined);
  // On a busy machine it may be there already, and one that was told to end may never be.
  const over = new Promise<void>((resolve) => {
    if (!stream.connecting) resolve();
    stream.once('connect', () => resolve()).once('close', () => resolve());
  });
  sentinels.disconnect();
  await over;
  // Whoever asked for the primary, and whoever began to listen, is gone.
  expect(await waitFor('no connection', () => open.size === 0)).toBe(true);
  stream.destroy();
});
