import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a source of usage was asked. */
export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
}

export type Reply = (asked: Asked, response: ServerResponse) => void;

export interface UsageServer {
  readonly url: string;
  readonly asked: Asked[];
  reply: Reply;
  /** The most requests that waited for an answer at one time. */
  mostAtOnce: number;
  close(): Promise<void>;
}

/** A source of usage that answers whatever a test wants. */
export async function startUsageServer(reply: Reply): Promise<UsageServer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let waiting = 0;
  const usage: UsageServer = {
    url: `http://127.0.0.1:${port}`,
    asked: [],
    reply,
    mostAtOnce: 0,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    usage.mostAtOnce = Math.max(usage.mostAtOnce, ++waiting);
    response.on('close', () => waiting--);
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => (body += part));
    request.on('end', () => {
      const { method = '', url = '/', headers } = request;
      const asked = { method, url: new URL(url, usage.url), headers, form: new URLSearchParams(body) };
      usage.asked.push(asked);
      usage.reply(asked, response);
    });
  });
  return usage;
}

export const json =
  (body: unknown, status = 200): Reply =>
  (_asked, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };

export const text =
  (body: string, status = 200): Reply =>
  (_asked, response) => {
    response.writeHead(status);
    response.end(body);
  };

/** Never a word. */
export const silence: Reply = () => undefined;
