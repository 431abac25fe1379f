import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

/** One request as it came. */
export interface GateCall {
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly userAgent: string;
}

/** What becomes of a request: it passes, gets this status instead of an answer, or none at all. */
export type Treatment = 'pass' | 'hang' | 400 | 429 | 500;

export interface GateOptions {
  readonly apiServerPort: number;
  /** Where the API server's certificate and key are: callers cannot tell the gate from it. */
  readonly credentialsDir: string;
}

/** Stands before the API server and treats each request as a test says. Watches pass as they come. */
export class Gate {
  readonly calls: GateCall[] = [];
  treat: (call: GateCall) => Treatment = () => 'pass';
  readonly #server: Server;
  readonly #agent: Agent;
  readonly #targetPort: number;

  constructor(server: Server, agent: Agent, targetPort: number) {
    this.#server = server;
    this.#agent = agent;
    this.#targetPort = targetPort;
    server.on('request', (incoming: IncomingMessage, response: ServerResponse) =>
      this.#receive(incoming, response),
    );
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#agent.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #receive(incoming: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/', headers } = incoming;
    const call = { atMs: Date.now(), method, path: url, userAgent: headers['user-agent'] ?? '' };
    this.calls.push(call);
    const treatment = this.treat(call);
    if (treatment === 'pass') this.#pass(incoming, response);
    else incoming.resume();
    if (typeof treatment === 'number') refuse(response, treatment);
  }

  #pass(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, url, headers } = incoming;
    const onward = request(
      { host: '127.0.0.1', port: this.#targetPort, agent: this.#agent, method, path: url, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        pipeline(answer, response, () => undefined);
      },
    );
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    pipeline(incoming, onward, () => undefined);
  }
}

function refuse(response: ServerResponse, code: number): void {
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message: 'as the test asked' };
  const headers = { 'content-type': 'application/json', ...(code === 429 && { 'retry-after': '1' }) };
  response.writeHead(code, headers).end(JSON.stringify(body));
}

export async function startGate({ apiServerPort, credentialsDir }: GateOptions): Promise<Gate> {
  const read = (name: string) => readFileSync(join(credentialsDir, name));
  const agent = new Agent({ keepAlive: true, ca: read('ca.crt') });
  const server = createServer({ cert: read('server.crt'), key: read('server.key') });
  const gate = new Gate(server, agent, apiServerPort);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return gate;
}
