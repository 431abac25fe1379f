import type { RawObject } from '../object.ts';
import { apiVersionOf, pathOf, type Place, type Query, type Resource } from '../resource.ts';
import type { OpenStream } from './attempt.ts';
import type { CallOptions, HotCallOptions, RawRequest, Transport } from './transport.ts';

/** `once`: one attempt, and then the caller must say how long it may take. Otherwise retried where it is safe. */
export type VerbOptions =
  | (CallOptions & { readonly once?: false })
  | (HotCallOptions & { readonly once: true });

/** `metadata` asks for PartialObjectMetadata: a pod of 4 kB arrives as less than 1 kB. */
export type View = 'whole' | 'metadata';

export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly view?: View;
}

export interface ListQuery extends Selection {
  readonly limit?: number;
  readonly continueToken?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Absent on the last page. */
  readonly continueToken?: string;
}

export interface WriteQuery {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
}

export interface DeleteQuery {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly dryRun?: boolean;
}

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** Parameters of a watch, in the server's own words. */
export interface WatchQuery extends Selection {
  readonly resourceVersion?: string;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds: number;
}

const AS_OBJECT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
const AS_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/**
 * The verbs. There is no replace: a client that writes back what it read deletes the fields it does not know.
 */
export class ApiClient {
  readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  async get<T>(
    of: Resource<T>,
    place: Place & { readonly name: string },
    options: VerbOptions & { readonly view?: View } = {},
  ): Promise<T> {
    const request: RawRequest = {
      verb: 'GET',
      path: pathOf(of, place),
      ...acceptOf(options.view, AS_OBJECT),
    };
    return this.send<T>(request, options);
  }

  /** One page, or everything when there is no `limit`. */
  async list<T>(of: Resource<T>, query: ListQuery = {}, options: VerbOptions = {}): Promise<Page<T>> {
    const path = pathOf(of, placeOf(query), {
      ...selectors(query),
      limit: query.limit,
      continue: query.continueToken,
      resourceVersion: query.resourceVersion,
      resourceVersionMatch: query.resourceVersionMatch,
    });
    const request: RawRequest = { verb: 'GET', path, ...acceptOf(query.view, AS_LIST) };
    const raw = await this.send<RawList<T>>(request, options);
    const token = raw.metadata?.continue;
    return {
      items: raw.items ?? [],
      resourceVersion: raw.metadata?.resourceVersion ?? '',
      ...(token ? { continueToken: token } : {}),
    };
  }

  /** A big list without ever holding more than a page. A token that expires midway surfaces as a 410. */
  async *pages<T>(
    of: Resource<T>,
    query: ListQuery = {},
    options: VerbOptions = {},
  ): AsyncGenerator<Page<T>> {
    const limit = query.limit ?? 500;
    let page = await this.list(of, { ...query, limit }, options);
    yield page;
    while (page.continueToken !== undefined) {
      // A version belongs to the first page only; the token carries it on.
      const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = query;
      page = await this.list(of, { ...rest, limit, continueToken: page.continueToken }, options);
      yield page;
    }
  }

  async create<T>(
    of: Resource<T>,
    place: Place,
    object: object,
    query: WriteQuery = {},
    options: VerbOptions = {},
  ): Promise<T> {
    const path = pathOf(of, place, writeQuery(query));
    return this.send<T>({ verb: 'POST', path, body: object }, options);
  }

  async jsonPatch<T>(
    of: Resource<T>,
    place: Place & { readonly name: string },
    operations: readonly JsonPatchOperation[],
    query: WriteQuery = {},
    options: VerbOptions = {},
  ): Promise<T> {
    return this.patch(
      of,
      place,
      'application/json-patch+json',
      operations,
      writeQuery(query),
      false,
      options,
    );
  }

  async mergePatch<T>(
    of: Resource<T>,
    place: Place & { readonly name: string },
    patch: object,
    query: WriteQuery = {},
    options: VerbOptions = {},
  ): Promise<T> {
    return this.patch(of, place, 'application/merge-patch+json', patch, writeQuery(query), true, options);
  }

  /** As the API's own types define it: items of a list are found by their key, and the others stay. */
  async strategicMergePatch<T>(
    of: Resource<T>,
    place: Place & { readonly name: string },
    patch: object,
    query: WriteQuery = {},
    options: VerbOptions = {},
  ): Promise<T> {
    const type = 'application/strategic-merge-patch+json';
    return this.patch(of, place, type, patch, writeQuery(query), true, options);
  }

  /** Server-side apply; `force` takes fields over from other managers. */
  async apply<T>(
    of: Resource<T>,
    place: Place & { readonly name: string },
    object: object,
    query: WriteQuery & { readonly fieldManager: string; readonly force?: boolean },
    options: VerbOptions = {},
  ): Promise<T> {
    const body = { apiVersion: apiVersionOf(of), kind: of.kind, ...object };
    const parameters = { ...writeQuery(query), force: query.force };
    return this.patch(of, place, 'application/apply-patch+yaml', body, parameters, true, options);
  }

  async delete(
    of: Resource<unknown>,
    place: Place & { readonly name: string },
    query: DeleteQuery = {},
    options: VerbOptions = {},
  ): Promise<void> {
    const preconditions = {
      ...(query.uid === undefined ? {} : { uid: query.uid }),
      ...(query.resourceVersion === undefined ? {} : { resourceVersion: query.resourceVersion }),
    };
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions,
      gracePeriodSeconds: query.gracePeriodSeconds,
      propagationPolicy: query.propagationPolicy,
      ...(query.dryRun ? { dryRun: ['All'] } : {}),
    };
    await this.send({ verb: 'DELETE', path: pathOf(of, place), body }, options);
  }

  /** The raw stream of a watch, with bookmarks. Reflector turns it into a store. */
  async watch(of: Resource<unknown>, query: WatchQuery, options: HotCallOptions): Promise<OpenStream> {
    const path = pathOf(of, placeOf(query), {
      watch: true,
      allowWatchBookmarks: true,
      ...selectors(query),
      resourceVersion: query.resourceVersion,
      sendInitialEvents: query.sendInitialEvents,
      resourceVersionMatch: query.sendInitialEvents ? 'NotOlderThan' : undefined,
      timeoutSeconds: query.timeoutSeconds,
    });
    return this.transport.stream({ verb: 'GET', path, ...acceptOf(query.view, AS_OBJECT) }, options);
  }

  private async patch<T>(
    of: Resource<T>,
    place: Place,
    contentType: string,
    body: unknown,
    query: Query,
    repeatable: boolean,
    options: VerbOptions,
  ): Promise<T> {
    const path = pathOf(of, place, query);
    return this.send<T>({ verb: 'PATCH', path, contentType, body, repeatable }, options);
  }

  private send<T>(request: RawRequest, options: VerbOptions): Promise<T> {
    return options.once
      ? this.transport.call<T>(request, options)
      : this.transport.request<T>(request, options);
  }
}

interface RawList<T = RawObject> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly T[];
}

function acceptOf(view: View | undefined, accept: string): { accept?: string } {
  return view === 'metadata' ? { accept } : {};
}

function placeOf(selection: Selection): Place {
  return selection.namespace === undefined ? {} : { namespace: selection.namespace };
}

function selectors(selection: Selection): Query {
  return { labelSelector: selection.labelSelector, fieldSelector: selection.fieldSelector };
}

function writeQuery(query: WriteQuery): Query {
  return { fieldManager: query.fieldManager, dryRun: query.dryRun ? 'All' : undefined };
}
