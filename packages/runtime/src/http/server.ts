import {
  createServer as createPlainServer,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tlsTerms } from '../certificates/inspect.ts';
import type { CertificateSource } from '../certificates/source.ts';
import type { Component } from '../lifecycle/component.ts';
import type { Logger } from '../logging/logger.ts';

export interface DrainTimes {
  /** How long requests are still welcome after the stop began: until every client heard of the 503 on /readyz. */
  readonly graceMs: number;
  /** When connections still open are cut, counted from the end of the grace. */
  readonly deadlineMs: number;
}

export interface HttpServerOptions {
  readonly name: string;
  /** Default: all addresses. */
  readonly host?: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly handler: RequestListener;
  /** With a source the server speaks TLS and takes over each new certificate without dropping a connection. */
  readonly certificates?: CertificateSource;
  readonly drain?: DrainTimes;
  readonly logger: Logger;
}

export type ServerErrorCode =
  /** Another process has the port. Retrying helps once it is gone. */
  | 'PORT_IN_USE'
  /** Any other reason why the server cannot listen. */
  | 'LISTEN_FAILED'
  /** TLS was asked for and there is no certificate yet. */
  | 'CERTIFICATE_MISSING';

export class ServerError extends Error {
  readonly code: ServerErrorCode;

  constructor(code: ServerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ServerError';
    this.code = code;
  }
}

/** Go's HTTP client keeps idle connections for 90 s: who closes first has to be the client, or requests get lost. */
const keepAliveTimeoutMs = 120_000;
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 30_000;
const closeIdleEveryMs = 250;
const noDrain: DrainTimes = { graceMs: 0, deadlineMs: 5_000 };

/** One listening socket, HTTP/1.1 only. Stopping it drains it: nothing that was accepted is cut short. */
export class HttpServer implements Component {
  readonly name: string;
  readonly stopDeadlineMs: number;
  readonly #options: HttpServerOptions;
  readonly #server: Server | TlsServer;
  readonly #inFlight = new Set<ServerResponse>();
  /** Connections without a first request. Go dials ahead, and Node takes them for busy, not for idle. */
  readonly #unused = new Set<Socket>();
  /** Below TLS: Node counts a connection among those of HTTP only after its handshake, but waits for it. */
  readonly #sockets = new Set<Socket>();
  readonly #drain: DrainTimes;
  #draining = false;
  #unsubscribe: (() => void) | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#drain = options.drain ?? noDrain;
    this.name = options.name;
    this.stopDeadlineMs = this.#drain.graceMs + this.#drain.deadlineMs + 1_000;
    this.#server = this.#create();
  }

  /** The port in use; only while listening. */
  get port(): number {
    return this.#address().port;
  }

  async start(): Promise<void> {
    this.#followCertificates();
    await this.#listen();
    const { address, port } = this.#address();
    this.#options.logger.info('listening', { server: this.name, address, port });
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    if (!this.#server.listening) return;
    await this.#refuseNewConnections();
  }

  #create(): Server | TlsServer {
    const times = {
      keepAliveTimeout: keepAliveTimeoutMs,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
    };
    const listener: RequestListener = (request, response) => {
      this.#unused.delete(request.socket);
      this.#inFlight.add(response);
      response.once('close', () => this.#inFlight.delete(response));
      if (this.#draining) response.setHeader('Connection', 'close');
      this.#options.handler(request, response);
    };
    const rememberIn =
      (open: Set<Socket>) =>
      (socket: Socket): void => {
        open.add(socket);
        socket.once('close', () => open.delete(socket));
      };
    const server =
      this.#options.certificates === undefined
        ? createPlainServer(times, listener).on('connection', rememberIn(this.#unused))
        : createTlsServer({ ...times, ...tlsTerms, ALPNProtocols: ['http/1.1'] }, listener).on(
            'secureConnection',
            rememberIn(this.#unused),
          );
    return server.on('connection', rememberIn(this.#sockets));
  }

  #followCertificates(): void {
    const { certificates } = this.#options;
    if (certificates === undefined || !('setSecureContext' in this.#server)) return;
    const server = this.#server;
    const pair = certificates.current();
    if (pair === undefined)
      throw new ServerError('CERTIFICATE_MISSING', `${this.name}: there is no certificate to serve with`);
    server.setSecureContext({ ...pair, ...tlsTerms });
    this.#unsubscribe = certificates.subscribe((next) => server.setSecureContext({ ...next, ...tlsTerms }));
  }

  #listen(): Promise<void> {
    const { host, port, name } = this.#options;
    const server = this.#server;
    return new Promise((resolve, reject) => {
      const onError = (error: NodeJS.ErrnoException): void => {
        const where = `${host ?? '*'}:${port}`;
        reject(
          error.code === 'EADDRINUSE'
            ? new ServerError(
                'PORT_IN_USE',
                `${name}: ${where} is already in use by another process; free it or configure another port`,
              )
            : new ServerError(
                'LISTEN_FAILED',
                `${name}: cannot listen on ${where} (${error.code ?? error.message})`,
                { cause: error },
              ),
        );
      };
      server.once('error', onError);
      server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
        server.off('error', onError);
        // A connection that could not be accepted is one client's trouble, who tries again.
        server.on('error', (error) =>
          this.#options.logger.error('a connection was not accepted', { server: name, error }),
        );
        resolve();
      });
    });
  }

  /**
   * Node alone would go on answering busy keep-alive connections for their whole timeout. So each answer from now
   * on tells its client to leave; after the grace nobody new gets in, and who has nothing under way is closed.
   */
  async #refuseNewConnections(): Promise<void> {
    const server = this.#server;
    this.#draining = true;
    for (const response of this.#inFlight)
      if (!response.headersSent) response.setHeader('Connection', 'close');
    await pause(this.#drain.graceMs);

    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      for (const socket of this.#unused) socket.destroy();
    }, closeIdleEveryMs);
    const cut = setTimeout(() => {
      this.#options.logger.warn('cutting connections that did not end in time', {
        server: this.name,
        requests: this.#inFlight.size,
      });
      server.closeAllConnections();
      for (const socket of this.#sockets) socket.destroy();
    }, this.#drain.deadlineMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
  }

  #address(): AddressInfo {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error(`${this.name} is not listening`);
    return address;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
