import {
  ApiError,
  type ApiClient,
  type KubeObject,
  type RawObject,
  Reflector,
  type ReflectorObserver,
  type Resource,
  Store,
} from '@spotalis/kube';

/** Why a module cannot read what it watches. */
export type Unavailable = 'CRDMissing' | 'Forbidden';

export interface UnavailableResource {
  readonly reason: Unavailable;
  readonly resource: string;
}

/** A missing CRD, or a right that is missing, is looked for again so often. */
const AGAIN_MS = 60_000;

export interface WatchedParts {
  readonly client: ApiClient;
  readonly observer: (plural: string) => ReflectorObserver;
  readonly onHandlerError: (error: Error) => void;
  /** It can be read now: undefined; or cannot any more. */
  readonly onChange: (unavailable: UnavailableResource | undefined) => void;
}

type MirrorParts = Omit<WatchedParts, 'onChange'> & { readonly onChange: () => void };

/** One resource as it is followed. */
interface Following {
  readonly plural: string;
  readonly hasSynced: boolean;
  readonly unavailable: Unavailable | undefined;
  start(): void;
  stop(): Promise<void>;
}

/** A watch as a module declares it. */
export interface DeclaredWatch {
  follow(owner: Watched, parts: MirrorParts): Following;
}

interface WatchOptions<R extends RawObject, T extends KubeObject> {
  readonly resource: Resource<R>;
  /** Absent: everywhere. */
  readonly namespace?: string;
  /** Undefined: not interesting. */
  readonly prune: (raw: R) => T | undefined;
}

/** A resource that one module watches. */
export class Watch<R extends RawObject, T extends KubeObject> implements DeclaredWatch {
  readonly #options: WatchOptions<R, T>;
  readonly #stores = new WeakMap<Watched, Store<T>>();

  constructor(options: WatchOptions<R, T>) {
    this.#options = options;
  }

  follow(owner: Watched, parts: MirrorParts): Following {
    const store = new Store<T>({ onHandlerError: parts.onHandlerError });
    this.#stores.set(owner, store);
    return new Mirror(this.#options, store, parts);
  }

  storeOf(owner: Watched): Store<T> {
    const store = this.#stores.get(owner);
    if (store === undefined)
      throw new Error(`the module declares no watch of ${this.#options.resource.plural}`);
    return store;
  }
}

/** What one module watches for itself. Nothing but the module waits for it. */
export class Watched {
  readonly #all: readonly Following[];

  constructor(watches: readonly DeclaredWatch[], parts: WatchedParts) {
    const onChange = (): void => parts.onChange(this.unavailable);
    this.#all = watches.map((watch) => watch.follow(this, { ...parts, onChange }));
  }

  /** All of it has been listed, and can still be read. */
  get isAvailable(): boolean {
    return this.#all.every(({ hasSynced, unavailable }) => hasSynced && unavailable === undefined);
  }

  /** Undefined: nothing is wrong, although it may not have been listed yet. */
  get unavailable(): UnavailableResource | undefined {
    for (const { plural, unavailable } of this.#all) {
      if (unavailable !== undefined) return { reason: unavailable, resource: plural };
    }
    return undefined;
  }

  start(): void {
    for (const one of this.#all) one.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.stop()));
  }
}

class Mirror<R extends RawObject, T extends KubeObject> implements Following {
  readonly plural: string;
  unavailable: Unavailable | undefined;
  hasSynced = false;
  readonly #options: WatchOptions<R, T>;
  readonly #store: Store<T>;
  readonly #parts: MirrorParts;
  #reflector: Reflector<R, T> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WatchOptions<R, T>, store: Store<T>, parts: MirrorParts) {
    this.#options = options;
    this.#store = store;
    this.#parts = parts;
    this.plural = options.resource.plural;
  }

  start(): void {
    const { client, observer } = this.#parts;
    const { resource, namespace, prune } = this.#options;
    const told = observer(this.plural);
    const reflector: Reflector<R, T> = new Reflector<R, T>({
      client,
      resource,
      ...(namespace === undefined ? {} : { select: { namespace } }),
      store: this.#store,
      prune,
      observer: {
        ...told,
        listed: (list) => {
          told.listed?.(list);
          this.hasSynced = true;
          this.unavailable = undefined;
          this.#parts.onChange();
        },
        failed: (error, retryInMs) => {
          told.failed?.(error, retryInMs);
          if (this.#reflector !== reflector) return;
          const reason = reasonOf(error);
          if (reason !== undefined) this.#giveUp(reason);
        },
      },
    });
    this.#reflector = reflector;
    reflector.start();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    const reflector = this.#reflector;
    this.#reflector = undefined;
    await reflector?.stop();
  }

  /** For a minute, and then from the beginning. */
  #giveUp(reason: Unavailable): void {
    const isNew = this.unavailable !== reason;
    this.unavailable = reason;
    void this.stop();
    this.#timer = setTimeout(() => this.start(), AGAIN_MS).unref();
    if (isNew) this.#parts.onChange();
  }
}

function reasonOf(error: Error): Unavailable | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.status === 404) return 'CRDMissing';
  return error.status === 403 ? 'Forbidden' : undefined;
}
