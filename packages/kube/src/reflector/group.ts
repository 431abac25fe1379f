import { ApiError } from '../errors.ts';
import type { KubeObject, RawObject } from '../object.ts';
import { Reflector, type ReflectorObserver, type ReflectorOptions } from './reflector.ts';

export interface ReflectorGroupOptions<R extends RawObject, T extends KubeObject>
  extends ReflectorOptions<R, T> {
  /** Nothing is asked outside of these. None: one list and one watch of everything. */
  readonly namespaces: readonly string[];
  /** Whether a namespace in which nothing may be listed is not there at all, and so is nothing to wait for. */
  readonly isAbsent?: (namespace: string) => boolean;
}

/** One kind of objects in one store, from each of several namespaces, which are followed each for itself. */
export class ReflectorGroup<R extends RawObject, T extends KubeObject> {
  /** Resolves after the first complete list of each is in the store; never rejects. */
  readonly synced: Promise<void>;
  readonly #members: readonly Member<R, T>[];

  constructor({ namespaces, isAbsent = () => false, ...options }: ReflectorGroupOptions<R, T>) {
    const objects = new Map<Member<R, T>, number>();
    this.#members =
      namespaces.length === 0
        ? [new Member(options)]
        : [...new Set(namespaces)].map((namespace) => {
            const select = { ...options.select, namespace };
            const observer = summing(options.observer, objects, () => member);
            const member: Member<R, T> = new Member({ ...options, select, observer }, () =>
              isAbsent(namespace),
            );
            return member;
          });
    this.synced = Promise.all(this.#members.map(({ settled }) => settled)).then(() => undefined);
  }

  hasSynced(): boolean {
    return this.#members.every((member) => member.hasSettled());
  }

  /** Of the one that has been silent for longest; undefined before all have heard something. */
  lastEventAgeMs(): number | undefined {
    let oldestMs = 0;
    for (const { reflector } of this.#members.filter((member) => !member.isAbsent)) {
      const ageMs = reflector.lastEventAgeMs();
      if (ageMs === undefined) return undefined;
      oldestMs = Math.max(oldestMs, ageMs);
    }
    return oldestMs;
  }

  start(): void {
    for (const { reflector } of this.#members) reflector.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map(({ reflector }) => reflector.stop()));
  }
}

/** One namespace's, or everything's. */
class Member<R extends RawObject, T extends KubeObject> {
  readonly reflector: Reflector<R, T>;
  /** It has synced, or there is nothing to sync with. */
  readonly settled: Promise<void>;
  /** When it was last refused. It goes on trying: a namespace may be made again, and its role with it. */
  isAbsent = false;
  #wasAbsent = false;

  constructor(options: ReflectorOptions<R, T>, isAbsentNow: () => boolean = () => false) {
    let giveUp: () => void = () => {};
    const absent = new Promise<void>((resolve) => {
      giveUp = resolve;
    });
    const { observer } = options;
    this.reflector = new Reflector({
      ...options,
      observer: {
        ...observer,
        watchStarted: () => {
          this.isAbsent = false;
          observer?.watchStarted?.();
        },
        failed: (error, retryInMs) => {
          this.isAbsent = error instanceof ApiError && error.status === 403 && isAbsentNow();
          this.#wasAbsent ||= this.isAbsent;
          if (this.isAbsent) giveUp();
          observer?.failed?.(error, retryInMs);
        },
      },
    });
    this.settled = Promise.race([this.reflector.synced, absent]);
  }

  hasSettled(): boolean {
    return this.#wasAbsent || this.reflector.hasSynced();
  }
}

/** Whoever observes is told of the objects of all namespaces together. */
function summing<K>(
  observer: ReflectorObserver | undefined,
  objects: Map<K, number>,
  of: () => K,
): ReflectorObserver {
  return {
    ...observer,
    listed(list) {
      objects.set(of(), list.objects);
      const sum = [...objects.values()].reduce((all, each) => all + each, 0);
      observer?.listed?.({ ...list, objects: sum });
    },
  };
}
