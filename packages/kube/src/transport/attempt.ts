import type { Dispatcher } from 'undici';
import {
  AbortedError,
  ApiError,
  asError,
  ConnectionError,
  DeadlineError,
  FenceClosedError,
  KubeError,
  type StatusBody,
} from '../errors.ts';
import { parseRetryAfterMs, type Verb } from './retry.ts';

export interface Exchange {
  readonly verb: Verb;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** `GET /api/v1/pods`: without the query, which would make every message long and different. */
export function titleOf(exchange: { readonly verb: Verb; readonly path: string }): string {
  const query = exchange.path.indexOf('?');
  return `${exchange.verb} ${query < 0 ? exchange.path : exchange.path.slice(0, query)}`;
}

export interface Limits {
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
}

/** `T` is what the caller expects; nothing checks it. */
export interface JsonAnswer<T> extends Answer {
  readonly json: T;
}

/** One request, one answer, within the deadline: body included. Throws KubeErrors only. */
export async function attempt<T>(
  dispatcher: Dispatcher,
  server: string,
  exchange: Exchange,
  limits: Limits,
): Promise<JsonAnswer<T>> {
  const clock = new Deadline(limits);
  try {
    const response = await dispatcher.request(requestOf(server, exchange, clock.signal));
    const text = await response.body.text();
    if (response.statusCode >= 300) {
      throw apiError(response, text, titleOf(exchange));
    }
    const json: T = JSON.parse(text === '' ? 'null' : text);
    return { status: response.statusCode, json };
  } catch (thrown) {
    throw translate(thrown, clock, titleOf(exchange));
  } finally {
    clock.clear();
  }
}

export interface OpenStream extends Answer {
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the stream and its connection. */
  close(): void;
}

/** Opens a stream. The deadline covers the time until the headers are there, the signal the whole stream. */
export async function openStream(
  dispatcher: Dispatcher,
  server: string,
  exchange: Exchange,
  limits: Limits,
): Promise<OpenStream> {
  const clock = new Deadline(limits);
  try {
    const response = await dispatcher.request(requestOf(server, exchange, clock.signal));
    if (response.statusCode >= 300) {
      throw apiError(response, await response.body.text(), titleOf(exchange));
    }
    clock.stopTimer();
    const { body } = response;
    // A body destroyed before it is read emits an error nobody listens for.
    body.on('error', () => {});
    return {
      status: response.statusCode,
      body,
      close: () => {
        clock.clear();
        body.destroy();
      },
    };
  } catch (thrown) {
    clock.clear();
    throw translate(thrown, clock, titleOf(exchange));
  }
}

function requestOf(server: string, exchange: Exchange, signal: AbortSignal): Dispatcher.RequestOptions {
  const url = new URL(server);
  // A server behind a path, as Rancher and Teleport have it.
  const prefix = url.pathname === '/' ? '' : url.pathname;
  return {
    origin: url.origin,
    path: prefix + exchange.path,
    method: exchange.verb,
    headers: exchange.headers,
    body: exchange.body ?? null,
    signal,
  };
}

/** Deadline and the caller's signal in one; a plain timer, because AbortSignal.timeout cannot be cleared. */
class Deadline {
  readonly limits: Limits;
  over = false;
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort = (): void => this.controller.abort();

  constructor(limits: Limits) {
    this.limits = limits;
    this.timer = setTimeout(() => {
      this.over = true;
      this.controller.abort();
    }, limits.deadlineMs);
    if (limits.signal?.aborted) {
      this.controller.abort();
    }
    limits.signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  stopTimer(): void {
    clearTimeout(this.timer);
  }

  clear(): void {
    clearTimeout(this.timer);
    this.limits.signal?.removeEventListener('abort', this.onAbort);
  }
}

function apiError(response: Dispatcher.ResponseData, text: string, request: string): ApiError {
  const header = response.headers['retry-after'];
  return new ApiError({
    status: response.statusCode,
    body: statusOf(text),
    retryAfterMs: parseRetryAfterMs(Array.isArray(header) ? header[0] : header, Date.now()),
    request,
  });
}

/** A Status if it is one; proxies and panicking servers answer with plain text. */
function statusOf(text: string): StatusBody {
  try {
    const body: StatusBody | null = JSON.parse(text);
    if (body?.kind === 'Status') {
      return body;
    }
  } catch {
    // Not JSON: below.
  }
  return { message: text.slice(0, 300).trim() };
}

function translate(thrown: unknown, clock: Deadline, request: string): KubeError {
  if (thrown instanceof KubeError) {
    return thrown;
  }
  if (clock.over) {
    return new DeadlineError(request, clock.limits.deadlineMs);
  }
  if (clock.limits.signal?.aborted) {
    return new AbortedError(request);
  }
  const error = asError(thrown);
  return error.cause instanceof FenceClosedError ? error.cause : new ConnectionError(request, error);
}
