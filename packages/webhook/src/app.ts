import { type ProductSettings, readCapacity } from '@spotalis/core';
import type { Credentials } from '@spotalis/kube';
import { isEmbedded } from '@spotalis/ledger';
import {
  accepted,
  certificateCheck,
  certificateMetrics,
  type Component,
  debugServer,
  EventLoop,
  healthServer,
  Lifecycle,
  type LoadedConfiguration,
  type Logger,
  Metrics,
  metricsServer,
  type Readiness,
  type RootLogger,
} from '@spotalis/runtime';
import { Chain } from './admission/chain.ts';
import { AdmissionHandler } from './admission/handler.ts';
import { certificateSecret, openCertificate } from './certificates/open.ts';
import { openConnections } from './connections.ts';
import { openObserving } from './observing.ts';
import { admissionMetrics } from './report/metrics.ts';
import { openServing } from './serving.ts';
import { openDistribution } from './steps/distribution/open.ts';

const now = (): number => performance.now();

export interface AppParts {
  readonly configuration: LoadedConfiguration<ProductSettings>;
  readonly credentials: Credentials;
  readonly logger: RootLogger;
}

export interface App {
  readonly lifecycle: Lifecycle;
  /** Where admissions are served, once started. */
  readonly port: () => number;
}

/** The service starts in this order and stops in reverse. */
const startOrder = ['health', 'connections', 'certificate', 'stores', 'serving'] as const;

type StartGroups = Readonly<Record<(typeof startOrder)[number], readonly Component[]>>;

/** Wires the service; nothing runs before the lifecycle is started. */
export function createApp({ configuration, credentials, logger }: AppParts): App {
  const { values } = configuration;
  // A wrong configuration is refused before anything opens a connection.
  const { nodeLabels, placement } = accepted(readCapacity(values));
  const secret = certificateSecret(values.webhook, credentials.namespace);
  const lifecycle = new Lifecycle(logger);
  const { readiness } = lifecycle;
  const metrics = new Metrics().collectProcess();

  const connections = openConnections({ configuration, credentials, metrics, logger, now });
  const { client, ledger, live } = connections;
  const admitted = admissionMetrics(metrics);
  const observing = openObserving({ ...connections, values, nodeLabels, admitted, metrics, logger, now });
  const { workloads, owners, nodeTypes, offer } = observing;
  const distribution = openDistribution({
    client,
    ledger,
    placement,
    hasCapacity: () => offer.seen,
    typeOfNode: (name) => nodeTypes.of(name),
    replicas: values.webhook.replicas,
    observer: {
      list: (reason) => admitted.read('list', reason),
      replicaSetRead: () => admitted.read('replicaset'),
    },
    deadlineMs: values.webhook.decisionTimeout,
    now,
  });
  const steps = values.modules.distribution.enabled ? [distribution.step] : [];
  const handler = new AdmissionHandler({
    workloads,
    chain: new Chain(steps),
    readOnly: () => live.current.readOnlyMode,
  });
  const observer = certificateMetrics(metrics);
  const certificates = openCertificate({ settings: values.webhook, secret, client, observer, logger });
  const isAsked = steps.length > 0;
  const serving = openServing({
    values,
    placement,
    handler,
    rehearses: isAsked,
    certificates,
    admitted,
    metrics,
    logger,
    now,
  });

  readiness.add('certificate', certificateCheck(certificates, Date.now));
  for (const each of isAsked ? observing.stores : []) {
    readiness.add(each.name, () => each.hasSynced() || 'not listed yet');
  }
  const state = () => ({
    ledger: { ...ledger.health(), embedded: isEmbedded(values.redis) },
    stores: observing.sizes(),
    onDemandSeen: offer.seen,
    replicaSets: owners.size,
    revisions: distribution.reserver.revisions,
    rssBytes: process.memoryUsage.rss(),
  });
  const groups: StartGroups = {
    health: openHealth({ values, readiness, metrics, state, logger }),
    connections: connections.components,
    certificate: [certificates],
    stores: isAsked ? observing.components : [],
    serving: serving.components,
  };
  lifecycle.add(...startOrder.flatMap((group) => groups[group]));
  return { lifecycle, port: serving.port };
}

interface HealthParts {
  readonly values: LoadedConfiguration<ProductSettings>['values'];
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly state: () => unknown;
  readonly logger: Logger;
}

/** Answers probes, Prometheus and people. */
function openHealth({ values, readiness, metrics, state, logger }: HealthParts): readonly Component[] {
  const { health, metrics: page, debug } = values;
  const eventLoop = new EventLoop();
  return [
    eventLoop,
    healthServer({ port: health.port, eventLoop, readiness, logger }),
    ...(page.enabled ? [metricsServer({ port: page.port, exposition: metrics, logger })] : []),
    debugServer({ port: debug.port, state, logger }),
  ];
}
