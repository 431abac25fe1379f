import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { KubeConfig } from '@kubernetes/client-node';
import { Credentials } from '../configuration/credentials.ts';
import { ApiClient } from '../transport/client.ts';
import { Transport, type TransportOptions } from '../transport/transport.ts';

/** What a test sees of a request. */
export interface SeenRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answer = (request: SeenRequest, response: ServerResponse) => void;

/** A server for what a real API server cannot be made to do on demand. Answers are functions, in order or one for all. */
export class ScriptedServer {
  readonly url: string;
  readonly requests: SeenRequest[] = [];
  connections = 0;
  private readonly server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>, url: string) {
    this.server = server;
    this.url = url;
  }

  /** With a list, the last answer repeats. What `aside` answers is not part of the script, nor seen. */
  static async start(
    script: Answer | readonly Answer[],
    aside: (request: SeenRequest) => Answer | undefined = () => undefined,
  ): Promise<ScriptedServer> {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const scripted = new ScriptedServer(server, `http://127.0.0.1:${port}`);
    server.on('connection', () => scripted.connections++);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => {
        const seen = {
          method: request.method ?? '',
          url: new URL(request.url ?? '/', scripted.url),
          headers: request.headers,
          body,
        };
        const besides = aside(seen);
        if (besides !== undefined) {
          besides(seen, response);
          return;
        }
        const answer =
          typeof script === 'function'
            ? script
            : script[Math.min(scripted.requests.length, script.length - 1)];
        scripted.requests.push(seen);
        answer?.(seen, response);
      });
    });
    return scripted;
  }

  client(options: Partial<TransportOptions> = {}): ApiClient {
    return new ApiClient(this.transport(options));
  }

  transport(options: Partial<TransportOptions> = {}): Transport {
    return new Transport({
      credentials: credentialsFor(this.url),
      userAgent: 'test',
      random: () => 0,
      ...options,
    });
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

export function credentialsFor(server: string): Credentials {
  const config = new KubeConfig();
  // client-node refuses plain HTTP unless verification is off.
  config.loadFromClusterAndUser(
    { name: 'local', server, skipTLSVerify: true },
    { name: 'tester', token: 'secret' },
  );
  return new Credentials(config);
}

export function json(body: unknown, code = 200, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

export function status(code: number, reason: string, message = reason, more: object = {}): Answer {
  return json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, ...more }, code);
}

/** Takes the request and never says a word. */
export const silence: Answer = () => {};

/** Takes the request and resets the connection. */
export const reset: Answer = (_request, response) => {
  response.socket?.resetAndDestroy();
};
