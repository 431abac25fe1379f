import type { Configuration, NodeLabels } from '@spotalis/core';
import { isEmbedded } from '@spotalis/ledger';
import type { Component, Logger, Metrics } from '@spotalis/runtime';
import { NodeTypes } from './cluster/nodes.ts';
import { OnDemandOffer } from './cluster/offer.ts';
import type { Connections } from './connections.ts';
import { PodObserver } from './embedded/pods.ts';
import type { AdmissionMetrics } from './report/metrics.ts';
import { reflectorObservers } from './report/reflectors.ts';
import { openWorkloads, type OpenWorkloads } from './workload/open.ts';

export interface ObservingParts extends Pick<Connections, 'client' | 'ledger' | 'live' | 'warn'> {
  readonly values: Configuration;
  readonly nodeLabels: NodeLabels;
  readonly admitted: AdmissionMetrics;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
}

/** A component that is ready once it has listed what it mirrors. */
interface SyncedStore extends Component {
  readonly size: number;
  hasSynced(): boolean;
}

export interface Observing extends Pick<OpenWorkloads, 'workloads' | 'owners'> {
  readonly nodeTypes: NodeTypes;
  readonly offer: OnDemandOffer;
  /** The service is ready once they are synced. */
  readonly stores: readonly SyncedStore[];
  /** How much each store holds, for the debug page. */
  readonly sizes: () => Readonly<Record<string, number>>;
  /** In the order of their start. */
  readonly components: readonly Component[];
}

/** What the service knows of the cluster: workloads and their policies, nodes, and with an embedded ledger the pods. */
export function openObserving(parts: ObservingParts): Observing {
  const { values, client, ledger, live, warn, nodeLabels, admitted, logger, now } = parts;
  const { scope, placement } = values;
  const deadlineMs = values.webhook.decisionTimeout;
  const observers = reflectorObservers(parts.metrics, logger);
  const { workloads, mirrors, newborns, owners, isAbsent } = openWorkloads({
    client,
    ledger,
    scope,
    live,
    observers,
    onRead: (kind) => admitted.read(kind),
    deadlineMs,
    now,
  });
  const nodeTypes = new NodeTypes({ client, nodeLabels, deadlineMs, now });
  const offer = new OnDemandOffer({
    client,
    nodeLabels,
    assumed: placement.assumeLabels,
    missing: (labels) =>
      warn(
        'NodeLabelsMissing',
        'Steer',
        `No node carries ${labels.join(' or ')}, and no NodePool offers it, so no pod is steered. Set nodeLabels to what your nodes carry, or placement.assumeLabels where they are still to come.`,
      ),
    logger,
  });
  const pods = isEmbedded(values.redis)
    ? [
        new PodObserver({
          client,
          namespaces: scope.namespaces,
          isAbsent,
          ledger,
          revisionOf: (owner) => workloads.revisionOf(owner),
          typeOfNode: (name) => nodeTypes.of(name),
          observer: observers('pods'),
          logger,
        }),
      ]
    : [];
  const stores = [...mirrors, ...pods];
  return {
    workloads,
    owners,
    nodeTypes,
    offer,
    stores,
    sizes: () => Object.fromEntries([...stores, newborns].map(({ name, size }) => [name, size])),
    components: [...stores, newborns, offer],
  };
}
