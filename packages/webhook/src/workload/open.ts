import { type Configuration, type PolicyDefaults, policyDefaults, type Scope } from '@spotalis/core';
import type { ApiClient, ReflectorObserver } from '@spotalis/kube';
import type { Ledger } from '@spotalis/ledger';
import { getReplicaSet } from '../cluster/replicaset.ts';
import { Newborns } from './newborns.ts';
import { Owners } from './owners.ts';
import { deployments, namespaces, OptInSource, statefulSets } from './stores.ts';
import { Workloads } from './workloads.ts';

export interface WorkloadParts {
  readonly client: ApiClient;
  readonly ledger: Ledger;
  readonly scope: Scope;
  /** The configuration as it is now, since defaults of policies can change: the same object until it does. */
  readonly live: { readonly current: Configuration };
  readonly observers: (resource: string) => ReflectorObserver;
  /** Called for each read of an object that no mirror shows. */
  readonly onRead: (kind: 'owner' | 'namespace' | 'workload') => void;
  readonly deadlineMs: number;
  readonly now: () => number;
}

export interface OpenWorkloads {
  readonly workloads: Workloads;
  /** They are synced before the first admission. */
  readonly mirrors: readonly OptInSource[];
  readonly newborns: Newborns;
  readonly owners: Owners;
  /** Whether a namespace is not there, as far as is known. */
  readonly isAbsent: (namespace: string) => boolean;
}

/** Opens what finds the workload of a pod. Mirrors and newborns list and watch once they are started. */
export function openWorkloads(parts: WorkloadParts): OpenWorkloads {
  const { client, ledger, scope, observers, onRead, deadlineMs, now } = parts;
  const common = { client, deadlineMs, now };
  const homes = new OptInSource({
    ...common,
    resource: namespaces,
    view: 'metadata',
    namespaces: [],
    observer: observers(namespaces.plural),
    onRead: () => onRead('namespace'),
  });
  // The Role goes with the namespace. A namespace without the label looks the same here, and nothing in it is managed.
  const isAbsent = (name: string): boolean => homes.hasSynced() && !homes.lookup.mirrors(name);
  const workloadsOf = (resource: typeof statefulSets, view: 'whole' | 'metadata'): OptInSource =>
    new OptInSource({
      ...common,
      resource,
      view,
      namespaces: scope.namespaces,
      isAbsent,
      observer: observers(resource.plural),
      onRead: () => onRead('workload'),
    });
  const sources = {
    namespaces: homes,
    deployments: workloadsOf(deployments, 'metadata'),
    statefulSets: workloadsOf(statefulSets, 'whole'),
  };
  const newborns = new Newborns({
    client,
    namespaces: scope.namespaces,
    isAbsent,
    observer: observers('replicasets'),
    now,
  });
  const owners = new Owners({
    ledger,
    newborn: (ref) => newborns.find(ref),
    read: (ref) => {
      onRead('owner');
      return getReplicaSet(client, ref, deadlineMs);
    },
    now,
  });
  const workloads = new Workloads({
    namespaces: sources.namespaces.lookup,
    deployments: sources.deployments.lookup,
    statefulSets: sources.statefulSets.lookup,
    owners,
    scope,
    defaults: defaultsOf(parts.live),
  });
  return { workloads, mirrors: Object.values(sources), newborns, owners, isAbsent };
}

/** The same object as long as the configuration is the same. */
function defaultsOf(live: WorkloadParts['live']): () => PolicyDefaults {
  let of: Configuration | undefined;
  let defaults: PolicyDefaults = {};
  return () => {
    const { current } = live;
    if (current !== of) {
      of = current;
      defaults = policyDefaults(current);
    }
    return defaults;
  };
}
