import { asError } from './errors.ts';
import { keyOf, type KubeObject } from './object.ts';

export type Change<T> =
  | {
      readonly type: 'added';
      readonly object: T;
      /** Part of the first list: not news, work for it can wait. */
      readonly initial: boolean;
    }
  | { readonly type: 'updated'; readonly object: T; readonly previous: T }
  | {
      readonly type: 'deleted';
      /** The last state seen, which for a tombstone may be old. */
      readonly object: T;
      /** The deletion itself was missed; a later list no longer had the object. */
      readonly tombstone: boolean;
    };

export type ChangeHandler<T> = (change: Change<T>) => void;

/** Under which values an object is found. None is fine. */
export type Indexer<T> = (object: T) => readonly string[];

export interface StoreOptions<T, I extends string> {
  readonly indexes?: Readonly<Record<I, Indexer<T>>>;
  /** A handler threw. The others still run, and so does the store. */
  readonly onHandlerError?: (error: Error, change: Change<T>) => void;
}

/** What a reflector needs of a store. */
export interface Sink<T> {
  upsert(object: T, initial: boolean): void;
  /** `last` is the final state, where the server told it. */
  remove(key: string, last?: T): void;
  /** Deletes, as tombstones, everything whose key is not in `kept`; with a namespace, of that namespace only. */
  keepOnly(kept: ReadonlySet<string>, namespace?: string): void;
}

/** Pruned objects by key, with indexes kept on every change, and handlers told of it. */
export class Store<T extends KubeObject, I extends string = never> implements Sink<T> {
  private readonly objects = new Map<string, T>();
  private readonly indexes: readonly Index<T>[];
  private readonly indexByName: ReadonlyMap<string, Index<T>>;
  private readonly handlers = new Set<ChangeHandler<T>>();
  private readonly onHandlerError: ((error: Error, change: Change<T>) => void) | undefined;

  constructor(options: StoreOptions<T, I> = {}) {
    const named: [string, Indexer<T>][] = Object.entries(options.indexes ?? {});
    this.indexByName = new Map(named.map(([name, indexer]) => [name, new Index(indexer)]));
    this.indexes = [...this.indexByName.values()];
    this.onHandlerError = options.onHandlerError;
  }

  get size(): number {
    return this.objects.size;
  }

  get(key: string): T | undefined {
    return this.objects.get(key);
  }

  values(): IterableIterator<T> {
    return this.objects.values();
  }

  by(index: I, value: string): T[] {
    return [...(this.indexByName.get(index)?.found(value) ?? [])];
  }

  /** Any one of them. */
  oneBy(index: I, value: string): T | undefined {
    for (const object of this.indexByName.get(index)?.found(value) ?? []) return object;
    return undefined;
  }

  countBy(index: I, value: string): number {
    return this.indexByName.get(index)?.found(value)?.size ?? 0;
  }

  /** Told of every change from now on, after the store has it. Returns the way out. */
  subscribe(handler: ChangeHandler<T>): () => void {
    this.handlers.add(handler);
    return () => this.handlers.delete(handler);
  }

  upsert(object: T, initial: boolean): void {
    const key = keyOf(object);
    const previous = this.objects.get(key);
    if (previous === undefined) {
      this.put(key, object);
      this.tell({ type: 'added', object, initial });
      return;
    }
    if (previous.metadata.uid !== object.metadata.uid) {
      // Deleted and made again under the same name while nobody watched: two facts, not one.
      this.drop(key, previous, tombstoneOf(previous));
      this.put(key, object);
      this.tell({ type: 'added', object, initial: false });
      return;
    }
    if (previous.metadata.resourceVersion !== object.metadata.resourceVersion) {
      this.forget(previous);
      this.put(key, object);
      this.tell({ type: 'updated', object, previous });
    }
  }

  remove(key: string, last?: T): void {
    const previous = this.objects.get(key);
    if (previous !== undefined) {
      this.drop(key, previous, { type: 'deleted', object: last ?? previous, tombstone: false });
    }
  }

  keepOnly(kept: ReadonlySet<string>, namespace?: string): void {
    for (const [key, object] of this.objects) {
      if (!kept.has(key) && (namespace === undefined || object.metadata.namespace === namespace)) {
        this.drop(key, object, tombstoneOf(object));
      }
    }
  }

  private put(key: string, object: T): void {
    this.objects.set(key, object);
    for (const index of this.indexes) {
      index.add(object);
    }
  }

  private forget(object: T): void {
    for (const index of this.indexes) {
      index.remove(object);
    }
  }

  private drop(key: string, object: T, change: Change<T>): void {
    this.objects.delete(key);
    this.forget(object);
    this.tell(change);
  }

  private tell(change: Change<T>): void {
    for (const handler of this.handlers) {
      try {
        handler(change);
      } catch (thrown) {
        this.onHandlerError?.(asError(thrown), change);
      }
    }
  }
}

function tombstoneOf<T>(object: T): Change<T> {
  return { type: 'deleted', object, tombstone: true };
}

class Index<T> {
  private readonly indexer: Indexer<T>;
  private readonly objectsByValue = new Map<string, Set<T>>();

  constructor(indexer: Indexer<T>) {
    this.indexer = indexer;
  }

  found(value: string): ReadonlySet<T> | undefined {
    return this.objectsByValue.get(value);
  }

  add(object: T): void {
    for (const value of this.indexer(object)) {
      const objects = this.objectsByValue.get(value);
      if (objects === undefined) {
        this.objectsByValue.set(value, new Set([object]));
      } else {
        objects.add(object);
      }
    }
  }

  remove(object: T): void {
    for (const value of this.indexer(object)) {
      const objects = this.objectsByValue.get(value);
      objects?.delete(object);
      if (objects?.size === 0) {
        this.objectsByValue.delete(value);
      }
    }
  }
}
