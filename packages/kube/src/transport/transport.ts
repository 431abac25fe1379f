import { setTimeout as delay } from 'node:timers/promises';
import type { Credentials, Identity } from '../configuration/credentials.ts';
import { AbortedError, ApiError, asError, ConnectionError, DeadlineError, KubeError } from '../errors.ts';
import { type AgentPair, Agents } from './agents.ts';
import { attempt, openStream, titleOf, type Answer, type Exchange, type OpenStream } from './attempt.ts';
import { fenced } from './fence.ts';
import { mayRetry, retryDelayMs, type Verb } from './retry.ts';

/** One finished attempt, for rest_client_requests_total and rest_client_request_duration_seconds. */
export interface ObservedRequest {
  readonly verb: Verb;
  readonly host: string;
  /** HTTP status, or `<error>` when there was no answer, as client-go has it. */
  readonly code: string;
  readonly durationMs: number;
}

export interface TransportOptions {
  readonly credentials: Credentials;
  /** `spotalis-controller/1.2.3`: what the audit log shows. */
  readonly userAgent: string;
  readonly observe?: (request: ObservedRequest) => void;
  /** Connections for short requests; watches come on top, one each. */
  readonly connections?: number;
  /** For a request with its retries. */
  readonly deadlineMs?: number;
  /** For one attempt of it, so that a dead connection leaves time for another. */
  readonly attemptMs?: number;
  readonly random?: () => number;
}

export interface RawRequest {
  readonly verb: Verb;
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: unknown;
  /** Saying it twice does no harm. Default: true for GET, PUT and DELETE. */
  readonly repeatable?: boolean;
}

export interface CallOptions {
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** A write begins only while this is true: asked again at every attempt, right before the first byte. */
  readonly fence?: () => boolean;
}

/** For a call that must be over at a known time. */
export interface HotCallOptions extends CallOptions {
  readonly deadlineMs: number;
}

const DEFAULT_CONNECTIONS = 8;
const DEFAULT_DEADLINE_MS = 30_000;
const DEFAULT_ATTEMPT_MS = 10_000;

/** Raw JSON over pooled connections, with deadlines. `request` retries, `call` does not. */
export class Transport {
  readonly host: string;
  private readonly options: TransportOptions;
  private readonly agents: Agents;
  private readonly random: () => number;
  private readonly closing = new AbortController();

  constructor(options: TransportOptions) {
    this.options = options;
    this.host = new URL(options.credentials.server).host;
    this.random = options.random ?? Math.random;
    this.agents = new Agents({
      connections: options.connections ?? DEFAULT_CONNECTIONS,
      proxyUrl: options.credentials.proxyUrl,
    });
  }

  /** With retries where they are safe, until the deadline. */
  async request<T>(request: RawRequest, options: CallOptions = {}): Promise<T> {
    const deadlineMs = options.deadlineMs ?? this.options.deadlineMs ?? DEFAULT_DEADLINE_MS;
    const attemptMs = this.options.attemptMs ?? DEFAULT_ATTEMPT_MS;
    const endMs = performance.now() + deadlineMs;
    const repeatable = request.repeatable ?? (request.verb !== 'POST' && request.verb !== 'PATCH');
    for (let tried = 0; ; tried++) {
      const leftMs = Math.max(1, endMs - performance.now());
      try {
        return await this.call<T>(request, { ...options, deadlineMs: Math.min(attemptMs, leftMs) });
      } catch (thrown) {
        const error = asError(thrown);
        if (!(error instanceof KubeError) || !mayRetry(error, repeatable)) {
          throw error;
        }
        const delayMs = retryDelayMs(error, tried, this.random);
        if (performance.now() + delayMs >= endMs) {
          // The server's own answer says more than "too late".
          throw error instanceof ApiError ? error : new DeadlineError(titleOf(request), deadlineMs, error);
        }
        const signals = [this.closing.signal, ...(options.signal === undefined ? [] : [options.signal])];
        await pause(delayMs, AbortSignal.any(signals), titleOf(request));
      }
    }
  }

  /** One attempt, plus one more with fresh credentials after a 401, all within the deadline. */
  async call<T>(request: RawRequest, options: HotCallOptions): Promise<T> {
    const endMs = performance.now() + options.deadlineMs;
    const answer = await this.authenticated((identity) => {
      const dispatcher = this.agentsFor(identity, request).requests;
      const deadlineMs = Math.max(1, Math.ceil(endMs - performance.now()));
      return this.observed(request.verb, () =>
        attempt<T>(
          options.fence === undefined ? dispatcher : fenced(dispatcher, options.fence, titleOf(request)),
          this.options.credentials.server,
          this.exchange(request, identity),
          { deadlineMs, signal: options.signal },
        ),
      );
    });
    return answer.json;
  }

  /** Opens a watch. The deadline is for the headers; the stream lives until it ends, is closed or aborted. */
  async stream(request: RawRequest, options: HotCallOptions): Promise<OpenStream> {
    return this.authenticated((identity) =>
      this.observed(request.verb, () =>
        openStream(
          this.agentsFor(identity, request).watches,
          this.options.credentials.server,
          this.exchange(request, identity),
          { deadlineMs: options.deadlineMs, signal: options.signal },
        ),
      ),
    );
  }

  /** Cuts every connection, for good: what is under way ends with an error, and nothing begins any more. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.agents.destroy();
  }

  private agentsFor(identity: Identity, request: RawRequest): AgentPair {
    if (this.closing.signal.aborted) throw new AbortedError(titleOf(request));
    return this.agents.for(identity.tls);
  }

  private async authenticated<T>(act: (identity: Identity) => Promise<T>): Promise<T> {
    const { credentials } = this.options;
    const identity = await credentials.current();
    try {
      return await act(identity);
    } catch (thrown) {
      const error = asError(thrown);
      if (!mayBeStale(error)) {
        throw error;
      }
      credentials.reject(identity);
      const fresh = await credentials.current();
      // Nothing new to show: the refusal stands. A 401 is given before anything is carried out.
      if (
        fresh.headers['authorization'] === identity.headers['authorization'] &&
        fresh.tls === identity.tls
      ) {
        throw error;
      }
      return act(fresh);
    }
  }

  private async observed<T extends Answer>(verb: Verb, act: () => Promise<T>): Promise<T> {
    const startMs = performance.now();
    let code = '<error>';
    try {
      const answer = await act();
      code = String(answer.status);
      return answer;
    } catch (thrown) {
      if (thrown instanceof ApiError) {
        code = String(thrown.status);
      }
      throw thrown;
    } finally {
      this.options.observe?.({ verb, host: this.host, code, durationMs: performance.now() - startMs });
    }
  }

  private exchange(request: RawRequest, identity: Identity): Exchange {
    const headers: Record<string, string> = {
      ...identity.headers,
      accept: request.accept ?? 'application/json',
      'user-agent': this.options.userAgent,
    };
    if (request.body !== undefined) {
      headers['content-type'] = request.contentType ?? 'application/json';
    }
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    return { verb: request.verb, path: request.path, headers, body };
  }
}

/** Errors that a rotated token or certificate explains; none of them comes after the request was carried out. */
function mayBeStale(error: Error): boolean {
  if (error instanceof ApiError) {
    return error.status === 401;
  }
  return error instanceof ConnectionError && /CERT|SIGNATURE|SSL/.test(String(asError(error.cause).code));
}

async function pause(ms: number, signal: AbortSignal, title: string): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch {
    throw new AbortedError(title);
  }
}
