import { Agent, ProxyAgent, type Dispatcher } from 'undici';
import type { TlsMaterial } from '../configuration/credentials.ts';

export interface AgentPair {
  /** A bounded pool for short requests. */
  readonly requests: Dispatcher;
  /** Unbounded: every watch holds one connection for minutes and must never wait for another. */
  readonly watches: Dispatcher;
}

/** Below the 60 s idle timeout of common load balancers. */
const TCP_KEEPALIVE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** undici's default of 4 s would mean a TLS handshake for nearly every call of a quiet service. */
const IDLE_MS = 60_000;
/** Time to the response headers of a watch; the server sends them before the first event. */
const WATCH_HEADERS_TIMEOUT_MS = 30_000;

/**
 * One pair of agents per set of TLS material. New material means new agents; the old ones finish what they
 * have in flight and close.
 */
export class Agents {
  private readonly connections: number;
  private readonly proxyUrl: string | undefined;
  private tls: TlsMaterial | undefined;
  private pair: AgentPair | undefined;

  constructor(options: { readonly connections: number; readonly proxyUrl: string | undefined }) {
    this.connections = options.connections;
    this.proxyUrl = options.proxyUrl;
  }

  for(tls: TlsMaterial): AgentPair {
    if (this.pair === undefined || tls !== this.tls) {
      const previous = this.pair;
      this.tls = tls;
      this.pair = {
        requests: this.agent(tls, { connections: this.connections, headersTimeout: 0 }),
        watches: this.agent(tls, { headersTimeout: WATCH_HEADERS_TIMEOUT_MS }),
      };
      if (previous !== undefined) {
        // A watch on the old certificate ends with its timeoutSeconds; nothing waits for this.
        void Promise.allSettled([previous.requests.close(), previous.watches.close()]);
      }
    }
    return this.pair;
  }

  /** Destroys connections, whatever is in flight on them. */
  async destroy(): Promise<void> {
    const pair = this.pair;
    this.pair = undefined;
    await Promise.allSettled([pair?.requests.destroy(), pair?.watches.destroy()]);
  }

  private agent(tls: TlsMaterial, options: Agent.Options): Dispatcher {
    const connect = {
      ...tls,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEPALIVE_MS,
      timeout: CONNECT_TIMEOUT_MS,
    };
    const shared: Agent.Options = {
      ...options,
      // Deadlines are ours, per call; a body may be as slow as its deadline allows.
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      pipelining: 1,
    };
    return this.proxyUrl === undefined
      ? new Agent({ ...shared, connect })
      : new ProxyAgent({ ...shared, uri: this.proxyUrl, requestTls: connect });
  }
}
