import { enabledLabel } from '@spotalis/core';
import {
  type ApiClient,
  parseKey,
  type ReflectorObserver,
  type Resource,
  resource,
  type Selection,
} from '@spotalis/kube';
import { Lookup } from './lookup.ts';
import { Mirror } from '../cluster/mirror.ts';
import { type OptInRecord, pruneOptIn, type RawOptIn } from './record.ts';
import { getOrUndefined } from '../cluster/replicaset.ts';

export const namespaces = resource('v1', 'namespaces', 'Namespace');
export const deployments = resource('apps/v1', 'deployments', 'Deployment');
export const statefulSets = resource<RawOptIn>('apps/v1', 'statefulsets', 'StatefulSet');

export interface OptInSourceOptions {
  readonly client: ApiClient;
  readonly resource: Resource<RawOptIn>;
  /** Metadata is enough for a Namespace or a Deployment; a StatefulSet's first ordinal is in its spec. */
  readonly view: NonNullable<Selection['view']>;
  /** Only these are read. None: all. */
  readonly namespaces: readonly string[];
  /** Whether a namespace is not there, as far as is known. */
  readonly isAbsent?: (namespace: string) => boolean;
  readonly observer: ReflectorObserver;
  readonly onRead: () => void;
  readonly deadlineMs: number;
  readonly now: () => number;
}

/** Objects of one kind: the labelled ones mirrored, others read live when asked for. */
export class OptInSource extends Mirror<RawOptIn, OptInRecord> {
  readonly lookup: Lookup;

  constructor(options: OptInSourceOptions) {
    const { client, resource: of, view, namespaces: within, isAbsent, observer, onRead } = options;
    const { deadlineMs, now } = options;
    const select = { labelSelector: `${enabledLabel}=true`, view };
    super({
      client,
      resource: of,
      namespaces: within,
      ...(isAbsent && { isAbsent }),
      select,
      prune: pruneOptIn,
      observer,
    });
    this.lookup = new Lookup({
      store: this.store,
      now,
      read: async (key) => {
        onRead();
        const raw = await getOrUndefined(() => client.get(of, parseKey(key), { view, deadlineMs }));
        return raw === undefined ? undefined : pruneOptIn(raw);
      },
    });
  }
}
