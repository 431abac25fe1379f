import type { Configuration, NodeLabels, Placement } from '@spotalis/core';
import type { ApiClient } from '@spotalis/kube';
import { isEmbedded, type Ledger, ledgerMetrics, openLedger, redisSettings } from '@spotalis/ledger';
import { type Logger, type Metrics, reflectorMetrics } from '@spotalis/runtime';
import { now, wallMs } from './kernel/clocks.ts';
import { Shapes } from './modules/distribution/drought/shapes.ts';
import { Cluster } from './kernel/cluster/cluster.ts';
import { Observation } from './modules/distribution/ledger/observation.ts';
import { Reflectors } from './kernel/cluster/reflectors.ts';
import { Rooms } from './kernel/cluster/rooms.ts';
import { classifierOf, managedIn } from './settings.ts';
import type { WorkersMaker } from './kernel/workers.ts';

export interface ObservingParts {
  readonly values: Configuration;
  readonly isReadOnly: () => boolean;
  readonly nodeLabels: NodeLabels;
  readonly placement: Placement;
  readonly client: ApiClient;
  readonly ownNamespace: string;
  readonly workers: WorkersMaker;
  readonly isLeader: () => boolean;
  /** What the ledger holds of a ReplicaSet has changed. */
  readonly onLedgerChange: (replicaSetUid: string) => void;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export interface Observing {
  readonly cluster: Cluster;
  /** Only the namespaces listed are seen. */
  readonly isConfined: boolean;
  readonly rooms: Rooms;
  readonly shapes: Shapes;
  readonly reflectors: Reflectors;
  /** Neither, where the ledger is inside the webhook, which observes pods for itself. */
  readonly ledger: Ledger | undefined;
  readonly observation: Observation | undefined;
}

/** What every replica does: the cluster in memory, and a ledger kept true to it. */
export function openObserving(parts: ObservingParts): Observing {
  const { values, client, ownNamespace, metrics, logger } = parts;
  const cluster = new Cluster(managedIn(values.scope), (error) => logger.error('observer failed', { error }));
  const isConfined = values.scope.namespaces.length > 0;
  const rooms = new Rooms(cluster, { onlyProven: isConfined && values.fallback.probe === 'placeholder' });
  const shapes = new Shapes(cluster, wallMs);
  const reflected = reflectorMetrics(metrics);
  const reflectors = new Reflectors({
    client,
    cluster,
    namespaces: values.scope.namespaces,
    ownNamespace,
    classify: classifierOf(parts.nodeLabels),
    placement: parts.placement,
    observer: (name) => ({
      ...reflected.observer(name),
      rejected: (error) => logger.error('object not understood', { resource: name, error }),
    }),
  });
  const seen = { cluster, isConfined, rooms, shapes, reflectors };
  if (isEmbedded(values.redis)) return { ...seen, ledger: undefined, observation: undefined };

  const measured = ledgerMetrics(metrics);
  const ledger = openLedger({
    redis: redisSettings(values.redis),
    now,
    wallMs,
    observer: {
      operation: measured.operation,
      mode(mode, code) {
        measured.mode(mode);
        logger.info('ledger', { mode, code });
      },
    },
  });
  const observation = new Observation({
    cluster,
    ledger,
    client,
    workers: parts.workers,
    mayWrite: () => !parts.isReadOnly(),
    isLeader: parts.isLeader,
    podsAreFollowed: reflectors.podsAreFollowed,
    onLedgerChange: parts.onLedgerChange,
    logger,
    now,
    random: Math.random,
  });
  return { ...seen, ledger, observation };
}
