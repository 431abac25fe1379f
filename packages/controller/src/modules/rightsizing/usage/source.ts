import { readFile } from 'node:fs/promises';
import { asError } from '@spotalis/kube';
import type { Milliseconds } from '@spotalis/units';
import { Agent, type Dispatcher } from 'undici';
import { excerpt, type UsageProblemReason, type UsageProblem } from './reading.ts';

export interface SourceOptions {
  /** For messages: `prometheus`. */
  readonly name: string;
  /** May hold a path and a user with a password. */
  readonly url: string;
  /** PEM files. A rotated one is read again. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Holds a bearer token. A rotated one is read again. */
  readonly tokenFile?: string;
  /** `X-Scope-OrgID`, for instance. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly deadlineMs?: Milliseconds;
  readonly maxBytes?: number;
  readonly connections?: number;
  /** Any clock in milliseconds. */
  readonly now?: () => number;
}

export interface SourceRequest {
  /** Below the path of the URL: `/api/v1/query`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Given, the request is a POST: a query may be longer than a URL may be. */
  readonly form?: Readonly<Record<string, string>>;
  /** What is asked, for messages. */
  readonly asked: string;
}

export interface SourceAnswer {
  readonly kind: 'answered';
  /** Nothing checks it. */
  readonly json: unknown;
  /** Its beginning, for messages. */
  readonly excerpt: string;
}

export interface SourceFailure {
  readonly kind: 'failed';
  readonly problem: UsageProblem;
  /** HTTP; null where there is no answer, or a success that is unusable. */
  readonly status: number | null;
}

const DEFAULT_DEADLINE_MS = 30_000;
/** 1,000 series of 2,016 points are about 60 MB; of the usual 288 points 9 MB. */
const DEFAULT_MAX_BYTES = 64 * 2 ** 20;
const DEFAULT_CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_MS = 60_000;
const LATE = Symbol('late');
/** The kubelet renews a projected token long before it ends; a minute late is early enough. */
const REREAD_MS = 60_000;

interface Identity {
  readonly contents: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Agent;
}

/** JSON over HTTP from a source of usage: within a deadline and a size, asked once. Never throws. */
export class UsageSource {
  readonly #options: SourceOptions;
  readonly #url: URL;
  readonly #deadlineMs: number;
  readonly #maxBytes: number;
  readonly #now: () => number;
  #identity: Identity | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;

  /** Throws TypeError on a URL that is none of HTTP. */
  constructor(options: SourceOptions) {
    this.#options = options;
    this.#url = new URL(options.url);
    if (!/^https?:$/.test(this.#url.protocol)) throw new TypeError(`${this.title} is not http or https`);
    this.#deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
    this.#maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
    this.#now = options.now ?? (() => performance.now());
  }

  async json(request: SourceRequest): Promise<SourceAnswer | SourceFailure> {
    const { title } = this;
    let identity: Identity;
    try {
      identity = await this.#current();
    } catch (thrown) {
      return failed(
        'Credentials',
        `${title}: ${asError(thrown).message}: mount the file, or change its path`,
      );
    }
    const deadline = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    // undici hears an abort only once a request has its connection.
    const late = new Promise<typeof LATE>((resolve) => {
      timer = setTimeout(() => {
        resolve(LATE);
        deadline.abort();
      }, this.#deadlineMs);
    });
    const about = `(asked: ${excerpt(request.asked)})`;
    try {
      const answer = await Promise.race([this.#ask(request, identity, deadline.signal), late]);
      if (answer === LATE)
        return failed('Late', `${title} has not answered within ${this.#deadlineMs} ms ${about}`);
      const { status, text } = answer;
      if (text === null)
        return failed('TooLarge', `${title} answers more than ${this.#maxBytes} bytes ${about}`);
      if (status >= 300) {
        // A token that was just rotated: read it before the next request.
        if (status === 401) this.#readAtMs = Number.NEGATIVE_INFINITY;
        return failed('Refused', `${title} answers ${status}: ${excerpt(text)} ${about}`, status);
      }
      return parse(text, `${title} answers what is no JSON`, about);
    } catch (thrown) {
      const { message, code } = asError(thrown);
      const why = message === '' ? String(code) : message;
      return failed('Unreachable', `${title} cannot be reached: ${excerpt(why)} ${about}`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Names the source in messages, without the user and the password that the URL may hold. */
  get title(): string {
    return `${this.#options.name} at ${this.#url.origin}`;
  }

  async close(): Promise<void> {
    await this.#identity?.agent.destroy();
  }

  async #ask(request: SourceRequest, identity: Identity, signal: AbortSignal) {
    const { statusCode, body } = await identity.agent.request(this.#exchange(request, identity, signal));
    return { status: statusCode, text: await this.#textOf(body) };
  }

  #exchange({ path, query, form }: SourceRequest, { headers }: Identity, signal: AbortSignal) {
    const base = this.#url.pathname.replace(/\/$/, '');
    const search = new URLSearchParams([
      ...this.#url.searchParams,
      ...Object.entries(query ?? {}),
    ]).toString();
    const tail = search === '' ? '' : `?${search}`;
    const exchange: Dispatcher.RequestOptions = {
      origin: this.#url.origin,
      path: `${base}${path === '' && base === '' ? '/' : path}${tail}`,
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...headers,
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: form === undefined ? null : new URLSearchParams(form).toString(),
      signal,
    };
    return exchange;
  }

  /** Null when there is more of it than there may be. */
  async #textOf(body: Dispatcher.ResponseData['body']): Promise<string | null> {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of body as AsyncIterable<Uint8Array>) {
      size += part.length;
      // Leaving the loop destroys the body and its connection.
      if (size > this.#maxBytes) return null;
      parts.push(part);
    }
    return Buffer.concat(parts).toString('utf8');
  }

  async #current(): Promise<Identity> {
    const known = this.#identity;
    if (known !== undefined && this.#now() - this.#readAtMs < REREAD_MS) return known;
    try {
      return await this.#read();
    } catch (thrown) {
      // Files that are being swapped: what was read before may still be good, and a 401 shows if it is not.
      if (known === undefined) throw thrown;
      return known;
    }
  }

  /** Contents are compared, not times: Secret volumes swap symbolic links. */
  async #read(): Promise<Identity> {
    const { caFile, certFile, keyFile, tokenFile } = this.#options;
    const [ca, cert, key, token] = await Promise.all([caFile, certFile, keyFile, tokenFile].map(contentOf));
    if (token !== undefined && !/^[\x21-\x7e]+\s*$/.test(token))
      throw new Error(`${tokenFile} holds no token`);
    this.#readAtMs = this.#now();
    const contents = JSON.stringify([ca, cert, key, token]);
    // Another request may have read them meanwhile.
    const previous = this.#identity;
    if (previous?.contents === contents) return previous;
    const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
    const agent = new Agent({
      connect: { ...tls, timeout: CONNECT_TIMEOUT_MS },
      connections: this.#options.connections ?? DEFAULT_CONNECTIONS,
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      // The deadline covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#identity = { contents, agent, headers: this.#headers(token?.trim()) };
    // What is under way on it ends first.
    void previous?.agent.close();
    return this.#identity;
  }

  #headers(token: string | undefined): Record<string, string> {
    const { username, password } = this.#url;
    const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return {
      ...this.#options.headers,
      ...(username !== '' && { authorization: `Basic ${Buffer.from(user).toString('base64')}` }),
      ...(token && { authorization: `Bearer ${token}` }),
    };
  }
}

const contentOf = async (file: string | undefined): Promise<string | undefined> =>
  file === undefined || file === '' ? undefined : readFile(file, 'utf8');

function parse(text: string, problem: string, about: string): SourceAnswer | SourceFailure {
  try {
    return { kind: 'answered', json: JSON.parse(text), excerpt: excerpt(text) };
  } catch {
    return failed('Malformed', `${problem}: ${excerpt(text)} ${about}`);
  }
}

function failed(reason: UsageProblemReason, message: string, status: number | null = null): SourceFailure {
  return { kind: 'failed', problem: { reason, message }, status };
}
