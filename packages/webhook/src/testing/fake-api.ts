import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RawMeta } from '@spotalis/kube';

export interface FakeObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: Partial<RawMeta> & { readonly name: string };
  readonly spec?: unknown;
  readonly status?: unknown;
}

interface Watch {
  readonly plural: string;
  readonly labels: readonly string[];
  readonly response: ServerResponse;
}

const plurals: Readonly<Record<string, string>> = {
  Namespace: 'namespaces',
  Node: 'nodes',
  NodePool: 'nodepools',
  Pod: 'pods',
  Deployment: 'deployments',
  ReplicaSet: 'replicasets',
  StatefulSet: 'statefulsets',
};

/**
 * As much of an API server as the webhook talks to: GET, LIST by labels, and watches with initial events, over
 * plain HTTP. Answers can be held back, and requests are counted.
 */
export class FakeApi {
  readonly #objects = new Map<string, FakeObject>();
  readonly #watches = new Set<Watch>();
  readonly #server: Server;
  readonly #requests: { readonly title: string; readonly query: URLSearchParams }[] = [];
  #version = 1_000;
  #uids = 0;
  #gate: { readonly pattern: RegExp; readonly open: Promise<void> } | undefined;
  #failure: { readonly pattern: RegExp; readonly status: number } | undefined;
  /** With this off, watches hear of nothing: what the reflectors would see later. */
  deliverEvents = true;

  constructor() {
    this.#server = createServer((request, response) => {
      void this.#serve(request, response);
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Creates or updates; returns the object with what a server fills in. */
  put(object: FakeObject): FakeObject & { readonly metadata: RawMeta } {
    const key = this.#keyOf(object);
    const before = this.#objects.get(key);
    this.#version += 1;
    const { name, namespace, uid, resourceVersion: _former, ...more } = object.metadata;
    // In the order of a server.
    const metadata = {
      name,
      ...(namespace !== undefined && { namespace }),
      uid: uid ?? before?.metadata.uid ?? `uid-${++this.#uids}`,
      resourceVersion: String(this.#version),
      creationTimestamp: new Date().toISOString(),
      ...more,
    };
    const { kind, apiVersion, metadata: _given, ...rest } = object;
    const stored = { kind, apiVersion, metadata, ...rest };
    this.#objects.set(key, stored);
    this.#tell(before === undefined ? 'ADDED' : 'MODIFIED', stored);
    return stored;
  }

  remove(object: FakeObject): void {
    this.#version += 1;
    this.#objects.delete(this.#keyOf(object));
    this.#tell('DELETED', object);
  }

  /** Requests so far whose method and path match. Watches are not among them. */
  count(pattern: RegExp): number {
    return this.queries(pattern).length;
  }

  /** What those requests asked for. */
  queries(pattern: RegExp): readonly URLSearchParams[] {
    return this.#requests.filter(({ title }) => pattern.test(title)).map(({ query }) => query);
  }

  /** Streams that are open for this kind. */
  watches(plural: string): number {
    return [...this.#watches].filter((watch) => watch.plural === plural).length;
  }

  /** Holds back every answer to a matching request until the returned function is called. */
  hold(pattern: RegExp): () => void {
    let release: () => void = () => undefined;
    const open = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#gate = { pattern, open };
    return () => {
      this.#gate = undefined;
      release();
    };
  }

  /** Answers matching requests with this status, until the returned function is called. */
  fail(pattern: RegExp, status: number): () => void {
    this.#failure = { pattern, status };
    return () => {
      this.#failure = undefined;
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const query = url.searchParams;
    const title = `${request.method} ${url.pathname}`;
    const { plural, namespace, name } = partsOf(url.pathname);
    const labels = (query.get('labelSelector') ?? '').split(',').filter((label) => label !== '');
    if (query.get('watch') === 'true') {
      this.#watch(response, plural, labels, query.get('sendInitialEvents') === 'true');
      return;
    }
    this.#requests.push({ title, query });
    if (this.#gate?.pattern.test(title)) await this.#gate.open;
    if (this.#failure?.pattern.test(title)) {
      answer(response, this.#failure.status, {
        kind: 'Status',
        code: this.#failure.status,
        reason: 'Failure',
      });
      return;
    }
    if (name !== undefined) {
      const found = this.#objects.get(`${plural}/${namespace ?? ''}/${name}`);
      if (found === undefined) answer(response, 404, { kind: 'Status', code: 404, reason: 'NotFound' });
      else answer(response, 200, found);
      return;
    }
    const items = this.#select(plural, labels).filter(
      ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
    );
    answer(response, 200, {
      metadata: { resourceVersion: String(this.#version) },
      items: items.length === 0 ? null : items,
    });
  }

  #watch(response: ServerResponse, plural: string, labels: readonly string[], initial: boolean): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (initial) {
      for (const object of this.#select(plural, labels)) response.write(line('ADDED', object));
      const metadata = {
        resourceVersion: String(this.#version),
        annotations: { 'k8s.io/initial-events-end': 'true' },
      };
      response.write(line('BOOKMARK', { metadata }));
    }
    const watch = { plural, labels, response };
    this.#watches.add(watch);
    response.once('close', () => this.#watches.delete(watch));
  }

  #tell(type: string, object: FakeObject): void {
    if (!this.deliverEvents) return;
    for (const { plural, labels, response } of this.#watches) {
      if (plural === plurals[object.kind] && labels.every((label) => carries(object, label))) {
        response.write(line(type, object));
      }
    }
  }

  #select(plural: string, labels: readonly string[]): readonly FakeObject[] {
    return [...this.#objects.values()].filter(
      (object) => plurals[object.kind] === plural && labels.every((label) => carries(object, label)),
    );
  }

  #keyOf({ kind, metadata }: FakeObject): string {
    return `${plurals[kind]}/${metadata.namespace ?? ''}/${metadata.name}`;
  }
}

function carries({ metadata }: FakeObject, label: string): boolean {
  const [key = '', value] = label.split('=');
  return metadata.labels?.[key] === value;
}

function line(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** `/api/v1/namespaces/shop/pods/web-1`, with the special case of namespaces themselves. */
function partsOf(path: string): { plural: string; namespace: string | undefined; name: string | undefined } {
  const parts = path.split('/').slice(path.startsWith('/apis/') ? 4 : 3);
  if (parts[0] === 'namespaces' && parts.length > 2) {
    return { plural: parts[2] ?? '', namespace: parts[1], name: parts[3] };
  }
  return { plural: parts[0] ?? '', namespace: undefined, name: parts[1] };
}
