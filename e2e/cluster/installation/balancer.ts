/**
 * Stands in for the Service in front of the webhook replicas: spreads TCP connections over them in turn, as
 * kube-proxy would, and on demand holds every answer back for a random time.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { isConnectionOf } from '../process/connection.ts';

export interface Balancer {
  readonly port: number;
  /** Connections accepted so far. */
  connections(): number;
  /** Holds each piece of an answer for up to `maxMs`; 0 passes it on at once. */
  delayAnswers(maxMs: number): void;
  /** From now on new connections go to these ports only; open ones to other ports are closed. */
  spreadOver(ports: readonly number[]): void;
  /** The same, but open connections go on: an endpoint that was taken out of a Service. */
  spreadNewOver(ports: readonly number[]): void;
  /** A network block in front of one process: what it has open ends, and nothing new of it gets through. */
  blockFrom(pid: number): void;
  unblock(): void;
  close(): Promise<void>;
}

export interface BalancerOptions {
  /** The address to listen on; loopback without it. */
  readonly host?: string;
  readonly random?: () => number;
}

export async function startBalancer(
  initial: readonly number[],
  { host = '127.0.0.1', random = Math.random }: BalancerOptions = {},
): Promise<Balancer> {
  let ports = [...initial];
  let turn = 0;
  let accepted = 0;
  let maxDelayMs = 0;
  let blockedPid: number | undefined;
  const open = new Map<Socket, number>();
  const clients = new Set<Socket>();
  const isBlocked = ({ remotePort, localPort }: Socket): boolean =>
    blockedPid !== undefined &&
    remotePort !== undefined &&
    localPort !== undefined &&
    isConnectionOf(blockedPid, { fromPort: remotePort, toPort: localPort });

  /** Pieces of one answer keep their order: each waits for the one before it. */
  function passAnswers(from: Socket, to: Socket): void {
    let last = Promise.resolve();
    from.on('data', (piece) => {
      const delayMs = maxDelayMs * random();
      if (delayMs === 0) {
        to.write(piece);
        return;
      }
      const released = new Promise<void>((resolve) => setTimeout(resolve, delayMs));
      last = Promise.all([last, released]).then(() => {
        if (!to.destroyed) to.write(piece);
      });
    });
    from.on('close', () => {
      last = last.then(() => {
        to.end();
      });
    });
  }

  function forward(client: Socket, attemptsLeft: number): void {
    const port = ports[turn++ % Math.max(1, ports.length)];
    if (port === undefined || attemptsLeft === 0) {
      client.destroy();
      return;
    }
    const backend = connect({ host: '127.0.0.1', port });
    backend.setNoDelay(true);
    backend.once('connect', () => {
      open.set(client, port);
      client.pipe(backend);
      passAnswers(backend, client);
    });
    backend.on('error', () => {
      if (open.has(client)) client.destroy();
      else forward(client, attemptsLeft - 1);
    });
    client.on('error', () => backend.destroy());
    client.on('close', () => {
      open.delete(client);
      backend.destroy();
    });
  }

  const server = createServer({ noDelay: true }, (client) => {
    accepted += 1;
    clients.add(client);
    client.on('close', () => clients.delete(client));
    if (isBlocked(client)) client.on('error', () => undefined).resume();
    else forward(client, ports.length);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => accepted,
    delayAnswers: (maxMs) => {
      maxDelayMs = maxMs;
    },
    spreadOver: (next) => {
      ports = [...next];
      for (const [client, port] of open) if (!ports.includes(port)) client.destroy();
    },
    spreadNewOver: (next) => {
      ports = [...next];
    },
    blockFrom: (pid) => {
      blockedPid = pid;
      for (const client of open.keys()) if (isBlocked(client)) client.destroy();
    },
    unblock: () => {
      blockedPid = undefined;
    },
    close: () =>
      new Promise((resolve) => {
        for (const client of clients) client.destroy();
        server.close(() => resolve());
      }),
  };
}
