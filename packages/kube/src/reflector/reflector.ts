import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { AbortedError, ApiError, asError, WatchError } from '../errors.ts';
import { keyOf, type KubeObject, type RawObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Sink } from '../store.ts';
import type { ApiClient, Selection } from '../transport/client.ts';
import { Backoff } from './backoff.ts';
import { Silence } from './silence.ts';
import { eventsOf, type WatchEvent } from './source.ts';

export interface ReflectorObserver {
  listed?(list: {
    readonly by: 'watch' | 'pages' | 'nothing';
    readonly objects: number;
    readonly durationMs: number;
  }): void;
  watchStarted?(): void;
  /** `closed` by the server, `silent` past the inactivity deadline, `expired` version, or an `error`. */
  watchEnded?(reason: 'closed' | 'silent' | 'expired' | 'error'): void;
  event?(type: WatchEvent<RawObject>['type']): void;
  /** Anything that makes the reflector wait and try again, with the wait. */
  failed?(error: Error, retryInMs: number): void;
  /** An object that could not be pruned, and is therefore missing or old in the store. */
  rejected?(error: Error): void;
}

export interface ReflectorOptions<R extends RawObject, T extends KubeObject> {
  readonly client: ApiClient;
  readonly resource: Resource<R>;
  readonly select?: Selection;
  /** Called on every object as it arrives. `undefined` means: not interesting, as if it did not exist. */
  readonly prune: (raw: R) => T | undefined;
  readonly store: Sink<T>;
  /** Only what changes from now on: nothing is listed, and what is lost is forgotten. */
  readonly fromNow?: boolean;
  /** Whether the text of an event tells that nothing is kept of it. Parsing is most of what following many objects costs. */
  readonly skips?: (line: string) => boolean;
  readonly observer?: ReflectorObserver;
  readonly timing?: Partial<ReflectorTiming>;
  readonly now?: () => number;
  readonly random?: () => number;
}

export interface ReflectorTiming {
  /** The server ends a watch at a random time between once and twice this. */
  readonly watchSeconds: number;
  /** A stream without a line for this long is dead. Must be above the server's 60 s between bookmarks. */
  readonly inactivityMs: number;
  /** Silence in the initial events after which their closing bookmark is not expected any more. */
  readonly initialSilenceMs: number;
  /** Time in all for the initial events. */
  readonly initialEventsMs: number;
  readonly openMs: number;
}

const TIMING: ReflectorTiming = {
  watchSeconds: 300,
  inactivityMs: 90_000,
  initialSilenceMs: 15_000,
  initialEventsMs: 120_000,
  openMs: 30_000,
};

const PAGE_LIMIT = 500;
/** A stream that ends sooner than this without an event is no way to follow anything. */
const SHORT_STREAM_MS = 1_000;
/** A stream that ends by so much before its time was ended by a server that stops, or by the network. */
const EARLY_MS = 2_000;

/** Mirrors a selection of objects into a store: list, watch, and again whatever happens, until stopped. */
export class Reflector<R extends RawObject, T extends KubeObject> {
  /** Resolves after the first complete list is in the store; never rejects. */
  readonly synced: Promise<void>;
  private readonly options: ReflectorOptions<R, T>;
  private readonly timing: ReflectorTiming;
  private readonly now: () => number;
  private readonly random: () => number;
  private readonly backoff: Backoff;
  private readonly stopping = new AbortController();
  private markSynced: () => void = () => {};
  private running: Promise<void> | undefined;
  /** Opaque; `undefined` means the next step is a list. */
  private version: string | undefined;
  /** How the next list is made. `pages-once` after a stream that never said where the list ends. */
  private listing: 'stream' | 'pages-once' | 'pages' = 'stream';
  /** The last stream ended before its time: the server may be another one now. */
  private brokeOff = false;
  private isSynced = false;
  private lastEventMs: number | undefined;

  constructor(options: ReflectorOptions<R, T>) {
    this.options = options;
    this.timing = { ...TIMING, ...options.timing };
    this.now = options.now ?? (() => performance.now());
    this.random = options.random ?? Math.random;
    this.backoff = new Backoff(this.now, this.random);
    this.synced = new Promise((resolve) => {
      this.markSynced = resolve;
    });
  }

  hasSynced(): boolean {
    return this.isSynced;
  }

  /** Since the last line from the server, bookmarks included; undefined before the first. */
  lastEventAgeMs(): number | undefined {
    return this.lastEventMs === undefined ? undefined : this.now() - this.lastEventMs;
  }

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        await this.step();
      } catch (thrown) {
        await this.recover(asError(thrown));
      }
    }
  }

  private async step(): Promise<void> {
    if (this.version !== undefined) {
      await this.follow(this.version);
    } else if (this.options.fromNow === true) {
      await this.beginNow();
    } else if (this.listing === 'stream') {
      await this.streamList();
    } else {
      await this.pageList();
    }
  }

  private async recover(error: Error): Promise<void> {
    if (this.stopping.signal.aborted || error instanceof AbortedError) {
      return;
    }
    const expired = isExpired(error) || isUnreached(error);
    if (expired) {
      this.version = undefined;
    }
    this.brokeOff = true;
    const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    const waitMs = Math.max(asked, expired ? this.backoff.afterExpiry() : this.backoff.next());
    this.options.observer?.failed?.(error, waitMs);
    await this.pause(waitMs);
  }

  private async pause(ms: number): Promise<void> {
    try {
      await delay(ms, undefined, { signal: this.stopping.signal });
    } catch {
      // Stopped: the loop sees it.
    }
  }

  /** List and watch in one stream: what exists, a bookmark, then what changes. */
  private async streamList(): Promise<void> {
    const startedMs = this.now();
    const seen = new Set<string>();
    let end: 'closed' | 'silent';
    try {
      end = await this.watch({ sendInitialEvents: true }, (event) => {
        if (this.version !== undefined) {
          // After the closing bookmark the same stream goes on as a plain watch.
          this.take(event);
          this.version = event.object.metadata.resourceVersion;
        } else if (event.type !== 'BOOKMARK') {
          this.take(event, seen);
        } else if (event.object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true') {
          this.finishList('watch', seen, startedMs, event.object.metadata.resourceVersion);
        }
      });
    } catch (thrown) {
      const error = asError(thrown);
      if (this.version === undefined && refusesStreamedLists(error)) {
        this.listing = 'pages';
        return;
      }
      throw error;
    }
    if (this.version === undefined && !this.stopping.signal.aborted) {
      if (end === 'silent') {
        this.listing = 'pages-once';
      }
      throw new WatchError(`${this.title()}: the stream ended (${end}) before its initial events did`);
    }
  }

  private async pageList(): Promise<void> {
    const { client, resource, select } = this.options;
    const startedMs = this.now();
    const seen = new Set<string>();
    let version = '';
    const pages = client.pages(resource, { ...select, limit: PAGE_LIMIT }, { signal: this.stopping.signal });
    for await (const page of pages) {
      for (const object of page.items) {
        this.take({ type: 'ADDED', object }, seen);
      }
      version = page.resourceVersion;
      this.lastEventMs = this.now();
      await nextTurn();
    }
    this.finishList('pages', seen, startedMs, version);
    if (this.listing === 'pages-once') {
      this.listing = 'stream';
    }
  }

  /** Whose version is now, whatever is on the page. */
  private async beginNow(): Promise<void> {
    const { client, resource, select } = this.options;
    const startedMs = this.now();
    const page = await client.list(resource, { ...select, limit: 1 }, { signal: this.stopping.signal });
    this.lastEventMs = this.now();
    this.finishList('nothing', new Set(), startedMs, page.resourceVersion);
  }

  private finishList(
    by: 'watch' | 'pages' | 'nothing',
    seen: Set<string>,
    startedMs: number,
    version: string,
  ): void {
    this.options.store.keepOnly(seen, this.options.select?.namespace);
    this.version = version;
    this.options.observer?.listed?.({ by, objects: seen.size, durationMs: this.now() - startedMs });
    // A stream that lists lives on for hours as a watch.
    seen.clear();
    this.isSynced = true;
    this.markSynced();
  }

  private async follow(version: string): Promise<void> {
    const startedMs = this.now();
    let events = 0;
    if (this.brokeOff) await this.confirm(version);
    await this.watch({ resourceVersion: version }, (event) => {
      events++;
      this.take(event);
      this.version = event.object.metadata.resourceVersion;
    });
    if (events === 0 && this.now() - startedMs < SHORT_STREAM_MS && !this.stopping.signal.aborted) {
      throw new WatchError(`${this.title()}: the stream ended at once and without an event`);
    }
  }

  /**
   * Rejects when the server has not reached this version, as after a restore of etcd from a backup. It takes a watch from
   * there, but says nothing before it gets there; and what was taken back would stay in the store for ever.
   */
  private async confirm(version: string): Promise<void> {
    const { client, resource, select } = this.options;
    const query = {
      ...select,
      limit: 1,
      resourceVersion: version,
      resourceVersionMatch: 'NotOlderThan',
    } as const;
    const options = { once: true, deadlineMs: this.timing.openMs, signal: this.stopping.signal } as const;
    await client.list(resource, query, options);
    this.brokeOff = false;
  }

  /** One stream from open to end. Ends that need no explanation return, the others throw. */
  private async watch(
    query: { readonly resourceVersion?: string; readonly sendInitialEvents?: boolean },
    act: (event: WatchEvent<R>) => void,
  ): Promise<'closed' | 'silent'> {
    const { client, resource, select, observer } = this.options;
    const timeoutSeconds = Math.ceil(this.timing.watchSeconds * (1 + this.random()));
    const stream = await client.watch(
      resource,
      { ...select, ...query, timeoutSeconds },
      { deadlineMs: this.timing.openMs, signal: this.stopping.signal },
    );
    observer?.watchStarted?.();
    this.backoff.working();
    const openedMs = performance.now();
    let end: 'closed' | 'silent' = 'closed';
    const silence = new Silence(this.patienceMs(openedMs), () => {
      end = 'silent';
      stream.close();
    });
    try {
      for await (const event of eventsOf<R>(stream, this.title(), this.options.skips)) {
        this.lastEventMs = this.now();
        observer?.event?.(event.type);
        act(event);
        silence.postpone(this.patienceMs(openedMs));
      }
      observer?.watchEnded?.(end);
      return end;
    } catch (thrown) {
      observer?.watchEnded?.(isExpired(asError(thrown)) ? 'expired' : 'error');
      throw thrown;
    } finally {
      silence.stop();
      this.brokeOff = performance.now() - openedMs < timeoutSeconds * 1_000 - EARLY_MS;
    }
  }

  /** How long the stream may be silent from now on. */
  private patienceMs(openedMs: number): number {
    if (this.version !== undefined) {
      return this.timing.inactivityMs;
    }
    const leftMs = openedMs + this.timing.initialEventsMs - performance.now();
    return Math.max(0, Math.min(this.timing.initialSilenceMs, leftMs));
  }

  /** Puts one event into the store. `seen` collects the keys of a list that is still going on. */
  private take(event: WatchEvent<R>, seen?: Set<string>): void {
    if (event.type === 'BOOKMARK') {
      return;
    }
    const { store, prune, observer } = this.options;
    const key = keyOf(event.object);
    try {
      const object = prune(event.object);
      if (event.type === 'DELETED' || object === undefined) {
        seen?.delete(key);
        store.remove(key, object);
      } else {
        seen?.add(key);
        store.upsert(object, seen !== undefined && !this.isSynced);
      }
    } catch (thrown) {
      // What the store has of it may be old, and is better than nothing.
      seen?.add(key);
      observer?.rejected?.(asError(thrown));
    }
  }

  private title(): string {
    const { resource, select } = this.options;
    return `watch of ${resource.plural}${select?.namespace === undefined ? '' : ` in ${select.namespace}`}`;
  }
}

function isExpired(error: Error): boolean {
  return error instanceof ApiError && (error.status === 410 || error.reason === 'Expired');
}

/** Its code is that of any timeout. */
function isUnreached(error: Error): boolean {
  return (
    error instanceof ApiError && error.status === 504 && error.message.includes('Too large resource version')
  );
}

/** A 4xx that is about the request itself: the server does not know sendInitialEvents, or has it turned off. */
function refusesStreamedLists(error: Error): boolean {
  return (
    error instanceof ApiError &&
    error.status >= 400 &&
    error.status < 500 &&
    ![401, 403, 404, 408, 410, 429].includes(error.status)
  );
}
