import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../process/ports.ts';

interface Pair {
  readonly client: Socket;
  readonly target: Socket;
}

/** A TCP proxy on loopback whose line a test can cut, block and slow down. */
export class Proxy {
  readonly port: number;
  /** How many connections there have been. */
  totalConnections = 0;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #refusing = false;
  #delayMs = 0;
  /** Aborted when the line opens again; undefined while it is open. */
  #blocked: AbortController | undefined;

  constructor(server: Server, port: number, targetPort: number) {
    this.#server = server;
    this.port = port;
    server.on('connection', (client) => this.#join(client, targetPort));
  }

  /** How many connections are open now. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Resets every open connection. New ones work. */
  cut(): void {
    for (const { client, target } of this.#pairs) {
      client.resetAndDestroy();
      target.resetAndDestroy();
    }
  }

  /** A partition: connections stay open, new ones are accepted, and not a byte gets through. */
  block(): void {
    this.#blocked ??= new AbortController();
  }

  /** Resets every open connection and every new one. */
  refuse(): void {
    this.#refusing = true;
    this.cut();
  }

  /** Every piece, in both directions, arrives this much later. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Undoes `block`, `refuse` and `slow`; what a block held back gets through now. */
  resume(): void {
    this.#refusing = false;
    this.#delayMs = 0;
    this.#blocked?.abort();
    this.#blocked = undefined;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  #join(client: Socket, targetPort: number): void {
    this.totalConnections++;
    if (this.#refusing) {
      client.resetAndDestroy();
      return;
    }
    const target = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
    const pair = { client, target };
    this.#pairs.add(pair);
    this.#connect(client, target, pair);
    this.#connect(target, client, pair);
  }

  #connect(from: Socket, to: Socket, pair: Pair): void {
    from.setNoDelay(true);
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => {
      if (to.destroyed) this.#pairs.delete(pair);
      // After an orderly end its last pieces may still be on the line.
      if (!from.readableEnded) to.destroy();
    });
    from.pipe(this.#line()).pipe(to);
  }

  /** Keeps the order and, unlike a pause of the socket, lets pieces be under way side by side. */
  #line(): Transform {
    let last = Promise.resolve();
    const travel = async (piece: Buffer, deliver: (piece: Buffer) => void, before: Promise<void>) => {
      const due = performance.now() + this.#delayMs;
      await before;
      const left = due - performance.now();
      if (left > 0) await delay(left);
      while (this.#blocked) await once(this.#blocked.signal, 'abort');
      deliver(piece);
    };
    return new Transform({
      transform(piece: Buffer, _encoding, done) {
        last = travel(piece, (arrived) => this.push(arrived), last);
        done();
      },
      flush(done) {
        void settle(last, done);
      },
    });
  }
}

/** Resolves when it listens. It goes with this process, or with `close()`. */
export async function startProxy(targetPort: number): Promise<Proxy> {
  const port = await freePort();
  const server = createServer({ allowHalfOpen: true });
  const proxy = new Proxy(server, port, targetPort);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return proxy;
}

async function settle(work: Promise<void>, done: () => void): Promise<void> {
  await work;
  done();
}
