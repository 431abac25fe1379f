import { Agent, request } from 'undici';
import { parseAllDocuments } from 'yaml';
import { ApiError } from './error.ts';
import {
  DISCOVERY_TYPE,
  type DiscoveryDocument,
  indexResources,
  pathOf,
  type Resource,
} from './resources.ts';

/** The least that every object has. Name a type of your own, or client-node's, where a test reads more. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly generateName?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly {
      readonly kind: string;
      readonly name: string;
      readonly uid: string;
    }[];
  };
}

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ApiAccess {
  readonly server: string;
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  /** How long an answer may take: a frozen API server must fail a request, not hang a test. */
  readonly timeoutMs?: number;
}

export interface WatchOptions {
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

type StreamedEvent<T> =
  | { readonly type: WatchEvent<T>['type'] | 'BOOKMARK'; readonly object: T & KubeObject }
  | { readonly type: 'ERROR'; readonly object: { readonly code?: number } };

interface RawOptions {
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const ANSWER_TIMEOUT_MS = 30_000;
const FIELD_MANAGER = 'test';

/**
 * The API server in plain JSON. A kind is `Deployment`, or `apps/v1/Deployment` where the bare name means
 * another one; an object is `name`, or `namespace/name` outside of the namespace `default`.
 */
export class ApiClient {
  readonly #access: ApiAccess;
  readonly #agent: Agent;
  #resources: Map<string, Resource> | undefined;

  constructor(access: ApiAccess) {
    this.#access = access;
    const { ca, cert, key, timeoutMs = ANSWER_TIMEOUT_MS } = access;
    this.#agent = new Agent({
      connect: { ca, timeout: timeoutMs, ...(cert && { cert }), ...(key && { key }) },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
  }

  async get<T = KubeObject>(
    kind: string,
    object: string,
    { subresource }: { subresource?: string } = {},
  ): Promise<T> {
    return this.raw('GET', await this.#path(kind, object, subresource));
  }

  /** undefined where `get` would fail because there is no such object. */
  async find<T = KubeObject>(kind: string, object: string): Promise<T | undefined> {
    try {
      return await this.get<T>(kind, object);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Of all namespaces unless one is named. */
  async list<T = KubeObject>(
    kind: string,
    { namespace, labelSelector, fieldSelector }: ListOptions = {},
  ): Promise<T[]> {
    const path = pathOf(await this.#resource(kind), namespace);
    const { items } = await this.raw<{ items: T[] }>('GET', path, {
      query: { labelSelector, fieldSelector },
    });
    return items;
  }

  /** Objects, or the text of YAML documents; a namespaced one without a namespace goes to `default`. */
  async create<T = KubeObject>(manifests: string | KubeObject | readonly KubeObject[]): Promise<T[]> {
    return this.#each(manifests, (resource, object) =>
      this.raw<T>('POST', pathOf(resource, object.metadata?.namespace ?? 'default'), { body: object }),
    );
  }

  /** Server-side apply, over whoever else owns the fields. Takes what `create` takes, in order. */
  async apply<T = KubeObject>(manifests: string | KubeObject | readonly KubeObject[]): Promise<T[]> {
    return this.#each(manifests, (resource, object) => {
      const { name, namespace = 'default' } = object.metadata ?? {};
      if (name === undefined)
        throw new TypeError(`apply needs metadata.name: ${JSON.stringify(object).slice(0, 200)}`);
      return this.raw<T>('PATCH', pathOf(resource, namespace, name), {
        query: { fieldManager: FIELD_MANAGER, force: 'true' },
        body: object,
        contentType: 'application/apply-patch+yaml',
      });
    });
  }

  /** What the API server would warn of if this was applied; it refuses unknown fields. Nothing is changed. */
  async applyWarnings(object: KubeObject): Promise<string[]> {
    const { apiVersion, kind, metadata: { name, namespace = 'default' } = {} } = object;
    const path = pathOf(await this.#resource(`${apiVersion}/${kind}`), namespace, name);
    const { warnings } = await this.#send('PATCH', path, {
      query: { fieldManager: FIELD_MANAGER, force: 'true', dryRun: 'All', fieldValidation: 'Strict' },
      body: object,
      contentType: 'application/apply-patch+yaml',
    });
    return warnings;
  }

  /** A merge patch, or a JSON patch where `patch` is a list. */
  async patch<T = KubeObject>(
    kind: string,
    object: string,
    patch: object,
    { subresource }: { subresource?: string } = {},
  ): Promise<T> {
    const contentType = Array.isArray(patch) ? 'application/json-patch+json' : 'application/merge-patch+json';
    return this.raw('PATCH', await this.#path(kind, object, subresource), { body: patch, contentType });
  }

  async scale(kind: string, object: string, replicas: number): Promise<void> {
    await this.patch(kind, object, { spec: { replicas } }, { subresource: 'scale' });
  }

  /** An object that is not there is as good as deleted. */
  async delete(
    kind: string,
    object: string,
    { gracePeriodSeconds }: { gracePeriodSeconds?: number } = {},
  ): Promise<void> {
    try {
      await this.raw('DELETE', await this.#path(kind, object), {
        body: {
          propagationPolicy: 'Background',
          ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
        },
      });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
  }

  async raw<T = unknown>(method: Method, path: string, options: RawOptions = {}): Promise<T> {
    const { text } = await this.#send(method, path, options);
    return JSON.parse(text);
  }

  async #send(
    method: Method,
    path: string,
    options: RawOptions,
  ): Promise<{ readonly text: string; readonly warnings: string[] }> {
    const { query = {}, body, contentType = 'application/json', accept = 'application/json' } = options;
    const url = new URL(path, this.#access.server);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, value);
    const { token } = this.#access;
    const response = await request(url, {
      method,
      dispatcher: this.#agent,
      headers: { accept, 'content-type': contentType, ...(token && { authorization: `Bearer ${token}` }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new ApiError(`${method} ${path}`, response.statusCode, text);
    return { text, warnings: [response.headers['warning'] ?? []].flat().map(readWarning) };
  }

  /**
   * Every event of a collection since a version, until `signal` ends. The API server ends a watch after a while, or
   * when its reader is slow: the next one begins where that one was. Fails where events cannot be had any more.
   */
  async *watch<T = KubeObject>(
    path: string,
    { resourceVersion, signal }: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    let version = resourceVersion;
    try {
      while (!signal.aborted) {
        for await (const { type, object } of this.#stream<T>(path, version, signal)) {
          if (type === 'ERROR') throw new ApiError(`watch ${path}`, object.code ?? 0, JSON.stringify(object));
          version = object.metadata?.resourceVersion ?? version;
          if (type !== 'BOOKMARK') yield { type, object };
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Drops its connections, whatever is still under way on them. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async *#stream<T>(
    path: string,
    resourceVersion: string,
    signal: AbortSignal,
  ): AsyncGenerator<StreamedEvent<T>> {
    const query = { watch: 'true', resourceVersion, allowWatchBookmarks: 'true' };
    const { token } = this.#access;
    const { statusCode, body } = await request(new URL(path, this.#access.server), {
      dispatcher: this.#agent,
      query,
      headers: { accept: 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      signal,
      bodyTimeout: 0,
    });
    if (statusCode !== 200) throw new ApiError(`watch ${path}`, statusCode, await body.text());
    let begun = '';
    for await (const text of body.setEncoding('utf8')) {
      const lines = `${begun}${text}`.split('\n');
      begun = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line);
    }
  }

  async #each<T>(
    manifests: string | KubeObject | readonly KubeObject[],
    act: (resource: Resource, object: KubeObject) => Promise<T>,
  ): Promise<T[]> {
    const results: T[] = [];
    for (const object of readManifests(manifests)) {
      const { apiVersion, kind } = object;
      if (!apiVersion || !kind)
        throw new TypeError(`a manifest needs apiVersion and kind: ${JSON.stringify(object).slice(0, 200)}`);
      results.push(await act(await this.#resource(`${apiVersion}/${kind}`), object));
    }
    return results;
  }

  async #path(kind: string, object: string, subresource?: string): Promise<string> {
    const [name, namespace = 'default'] = object.split('/').toReversed();
    return `${pathOf(await this.#resource(kind), namespace, name)}${subresource ? `/${subresource}` : ''}`;
  }

  async #resource(kind: string): Promise<Resource> {
    // A kind that is not known may have come since, with a CustomResourceDefinition.
    if (!this.#resources?.has(kind)) this.#resources = await this.#discover();
    const resource = this.#resources.get(kind);
    if (resource === undefined)
      throw new Error(`the API server serves no ${kind}; a kind is Pod, or apps/v1/Deployment`);
    return resource;
  }

  async #discover(): Promise<Map<string, Resource>> {
    const documents: DiscoveryDocument[] = [];
    for (const path of ['/api', '/apis'])
      documents.push(await this.raw('GET', path, { accept: DISCOVERY_TYPE }));
    return indexResources(documents);
  }
}

/** The text of a header such as `299 - "a quoted text"`. */
function readWarning(header: string): string {
  const [, quoted = header] = /^\d+ \S+ "(.*)"$/.exec(header) ?? [];
  return quoted.replaceAll(/\\(.)/g, '$1');
}

function readManifests(manifests: string | KubeObject | readonly KubeObject[]): readonly KubeObject[] {
  if (typeof manifests !== 'string') return isList(manifests) ? manifests : [manifests];
  return parseAllDocuments(manifests).flatMap((document) => {
    if (document.errors[0]) throw document.errors[0];
    const object: KubeObject | null = document.toJS();
    return object === null ? [] : [object];
  });
}

const isList = (manifests: KubeObject | readonly KubeObject[]): manifests is readonly KubeObject[] =>
  Array.isArray(manifests);
