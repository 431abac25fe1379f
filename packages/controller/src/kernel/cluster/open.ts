import { type Capacity, classifierOf, type Configuration, managedIn } from '@spotalis/core';
import type { ApiClient, ReflectorObserver } from '@spotalis/kube';
import { type Logger, type Metrics, reflectorMetrics } from '@spotalis/runtime';
import { Cluster } from './cluster.ts';
import { Reflectors } from './reflectors.ts';
import { Rooms } from './rooms.ts';

export interface ClusterParts {
  readonly values: Configuration;
  readonly capacity: Pick<Capacity, 'nodeLabels' | 'placement'>;
  readonly client: ApiClient;
  readonly ownNamespace: string;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** The cluster in memory, in every replica. */
export interface ObservedCluster {
  readonly cluster: Cluster;
  /** Only the namespaces listed are seen. */
  readonly isConfined: boolean;
  readonly rooms: Rooms;
  readonly reflectors: Reflectors;
  /** Measures what follows a resource. */
  readonly reflectorObserver: (resource: string) => ReflectorObserver;
  /** A subscriber of a store threw. */
  readonly onHandlerError: (error: Error) => void;
}

export function openCluster(parts: ClusterParts): ObservedCluster {
  const { values, capacity, client, ownNamespace, metrics, logger } = parts;
  const onHandlerError = (error: Error): void => logger.error('observer failed', { error });
  const cluster = new Cluster(
    (namespace, workload) => managedIn(namespace, workload, values.scope).managed,
    onHandlerError,
  );
  const isConfined = values.scope.namespaces.length > 0;
  const reflected = reflectorMetrics(metrics);
  const reflectorObserver = (name: string): ReflectorObserver => ({
    ...reflected.observer(name),
    rejected: (error) => logger.error('object not understood', { resource: name, error }),
  });
  const reflectors = new Reflectors({
    client,
    cluster,
    namespaces: values.scope.namespaces,
    ownNamespace,
    classify: classifierOf(capacity.nodeLabels),
    placement: capacity.placement,
    observer: reflectorObserver,
  });
  return {
    cluster,
    isConfined,
    rooms: new Rooms(cluster, { onlyProven: isConfined && values.fallback.probe === 'placeholder' }),
    reflectors,
    reflectorObserver,
    onHandlerError,
  };
}
