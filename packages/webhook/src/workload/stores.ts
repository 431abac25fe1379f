import { enabledLabel } from '@spotalis/core';
import {
  type ApiClient,
  Reflector,
  type ReflectorObserver,
  type Resource,
  resource,
  type Selection,
  Store,
} from '@spotalis/kube';
import type { Component } from '@spotalis/runtime';
import { Lookup } from './lookup.ts';
import { type OptInRecord, pruneOptIn, type RawOptIn } from './record.ts';
import { getOrUndefined } from './replicaset.ts';

export const namespaces = resource('v1', 'namespaces', 'Namespace');
export const deployments = resource('apps/v1', 'deployments', 'Deployment');
export const statefulSets = resource<RawOptIn>('apps/v1', 'statefulsets', 'StatefulSet');

export interface OptInSourceOptions {
  readonly client: ApiClient;
  readonly resource: Resource<RawOptIn>;
  /** Metadata says all that is needed of a Namespace or a Deployment; a StatefulSet is numbered by its spec. */
  readonly view: NonNullable<Selection['view']>;
  readonly observer: ReflectorObserver;
  readonly onRead: () => void;
  readonly deadlineMs: number;
  readonly now: () => number;
}

/** The labelled objects of one kind, mirrored, and whatever else is asked for, read live. */
export class OptInSource implements Component {
  readonly name: string;
  readonly lookup: Lookup;
  readonly #store = new Store<OptInRecord>();
  readonly #reflector: Reflector<RawOptIn, OptInRecord>;

  constructor(options: OptInSourceOptions) {
    const { client, resource: of, view, observer, onRead, deadlineMs, now } = options;
    this.name = of.plural;
    this.#reflector = new Reflector({
      client,
      resource: of,
      select: { labelSelector: `${enabledLabel}=true`, view },
      prune: pruneOptIn,
      store: this.#store,
      observer,
    });
    this.lookup = new Lookup({
      store: this.#store,
      now,
      read: async (key) => {
        onRead();
        const [namespace, name] = key.includes('/') ? key.split('/', 2) : [undefined, key];
        const place = { name: name ?? key, ...(namespace === undefined ? {} : { namespace }) };
        const raw = await getOrUndefined(() => client.get(of, place, { view, deadlineMs }));
        return raw === undefined ? undefined : pruneOptIn(raw);
      },
    });
  }

  get size(): number {
    return this.#store.size;
  }

  hasSynced(): boolean {
    return this.#reflector.hasSynced();
  }

  async start(): Promise<void> {
    this.#reflector.start();
    await this.#reflector.synced;
  }

  async stop(): Promise<void> {
    await this.#reflector.stop();
  }
}
