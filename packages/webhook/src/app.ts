import { hostname } from 'node:os';
import {
  type Configuration,
  type PolicyDefaults,
  policyDefaults,
  type ProductSettings,
  readCapacity,
} from '@spotalis/core';
import { ApiClient, type Credentials, EventRecorder, ownPod, Transport } from '@spotalis/kube';
import { isEmbedded, type Lane, openLedger, redisSettings } from '@spotalis/ledger';
import {
  accepted,
  certificateCheck,
  certificateMetrics,
  debugServer,
  EventLoop,
  followConfiguration,
  healthServer,
  HttpServer,
  Lifecycle,
  type LoadedConfiguration,
  Metrics,
  metricsServer,
  restClientMetrics,
  type RootLogger,
  webhookMetrics,
} from '@spotalis/runtime';
import { Chain } from './admission/chain.ts';
import { AdmissionHandler } from './admission/handler.ts';
import { openCertificate, placeOfCertificate } from './certificates/open.ts';
import { PodObserver } from './embedded/pods.ts';
import { AdmissionReport } from './report/admissions.ts';
import type { WebhookEvent } from './report/events.ts';
import { admissionMetrics, ledgerObserver } from './report/metrics.ts';
import { reflectorObservers } from './report/reflectors.ts';
import { Rehearsal } from './rehearsal/rehearsal.ts';
import { openStage } from './rehearsal/stage.ts';
import { ApiReads } from './steps/distribution/reads.ts';
import { Reserver } from './steps/distribution/reserver.ts';
import { DistributionStep } from './steps/distribution/step.ts';
import { admissionsApp } from './serve/admissions.ts';
import { NodeTypes } from './cluster/nodes.ts';
import { OnDemandOffer } from './cluster/offer.ts';
import { openWorkloads } from './workload/open.ts';

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

/** Connections to the API server for short requests: a burst over fifty Deployments reads fifty ReplicaSets at once. */
const CONNECTIONS = 16;

/** No admission takes longer than this, and the API server does not wait longer for one. */
const DRAIN_DEADLINE_MS = 10_000;

/** Replicas to share ranks with while the ledger cannot be reached, where their number is not configured. */
const PROBABLE_REPLICAS = 4;

/** Events are for people; a stop does not wait long for them. */
const EVENTS_DEADLINE_MS = 2_000;

/** Wires the service; nothing runs before the lifecycle is started. */
export function createApp({ configuration, credentials, logger }: AppParts): App {
  const { values } = configuration;
  // Whatever can be wrong with the configuration comes before anything that holds a connection.
  const { nodeLabels, placement } = accepted(readCapacity(values));
  const certificatePlace = placeOfCertificate(values.webhook, credentials.namespace);
  const lifecycle = new Lifecycle(logger);
  const metrics = new Metrics().collectProcess();

  const rest = restClientMetrics(metrics);
  const transport = new Transport({
    credentials,
    userAgent: 'spotalis-webhook',
    connections: CONNECTIONS,
    observe: (request) => rest.finished(request),
  });
  const client = new ApiClient(transport);
  const recorder = new EventRecorder<WebhookEvent>({
    client,
    controller: 'spotalis.io/webhook',
    instance: hostname(),
    onDropped: (why, event, error) => logger.warn('event not written', { why, reason: event.reason, error }),
  });
  const warn = (reason: WebhookEvent, action: string, note: string): void =>
    recorder.record({ regarding: ownPod(credentials.namespace), type: 'Warning', reason, action, note });
  const { live } = followConfiguration({
    configuration,
    metrics,
    logger,
    refused: ({ message }) => warn('InvalidConfiguration', 'ReloadConfiguration', message),
  });
  const admitted = admissionMetrics(metrics);
  const ledgerEvents = ledgerObserver(metrics);
  const ledger = openLedger({
    redis: redisSettings(values.redis),
    now,
    wallMs: Date.now,
    observer: ledgerEvents,
  });
  ledgerEvents.mode(ledger.health().mode);

  const deadlineMs = values.webhook.decisionTimeout;
  const observers = reflectorObservers(metrics, logger);
  const { workloads, mirrors, newborns, owners, isAbsent } = openWorkloads({
    client,
    ledger,
    scope: values.scope,
    defaults: defaultsOf(() => live.current),
    observers,
    onRead: (kind) => admitted.read(kind),
    deadlineMs,
    now,
  });

  const nodeTypes = new NodeTypes({ client, nodeLabels, deadlineMs, now });
  const reserver = new Reserver({
    ledger,
    reads: new ApiReads({ client, ledger, typeOfNode: (name) => nodeTypes.of(name), deadlineMs }),
    now,
    lane: laneOf(values.webhook.replicas),
    random: Math.random,
    observer: {
      list: (reason) => admitted.read('list', reason),
      replicaSetRead: () => admitted.read('replicaset'),
    },
  });
  const offer = new OnDemandOffer({
    client,
    nodeLabels,
    assumed: values.placement.assumeLabels,
    missing: (labels) =>
      warn(
        'NodeLabelsMissing',
        'Steer',
        `No node carries ${labels.join(' or ')}, and no NodePool offers it, so no pod is steered. Set nodeLabels to what your nodes carry, or placement.assumeLabels where they are still to come.`,
      ),
    logger,
  });
  const distribution = new DistributionStep({ reserver, ledger, placement, hasCapacity: () => offer.seen });
  const handler = new AdmissionHandler({
    workloads,
    chain: new Chain([distribution]),
    readOnly: () => live.current.readOnlyMode,
  });

  const observed = isEmbedded(values.redis)
    ? [
        new PodObserver({
          client,
          namespaces: values.scope.namespaces,
          isAbsent,
          ledger,
          revisionOf: (owner) => workloads.revisionOf(owner),
          typeOfNode: (name) => nodeTypes.of(name),
          observer: observers('pods'),
          logger,
        }),
      ]
    : [];
  const stores = [...mirrors, ...observed];

  const certificateEvents = certificateMetrics(metrics);
  const certificates = openCertificate({
    settings: values.webhook,
    place: certificatePlace,
    client,
    observer: certificateEvents,
    logger,
  });
  const server = new HttpServer({
    name: 'admissions',
    port: values.webhook.port,
    handler: admissionsApp({
      handler,
      decisionTimeoutMs: values.webhook.decisionTimeout,
      report: new AdmissionReport({ metrics: admitted, logger }),
      requests: webhookMetrics(metrics).observer('pods'),
      logger,
      now,
    }),
    certificates,
    drain: { graceMs: values.webhook.drainGrace, deadlineMs: DRAIN_DEADLINE_MS },
    logger,
  });

  const rehearsal = new Rehearsal({
    admissions: values.webhook.rehearsal,
    openStage: () =>
      openStage({
        ledger: openLedger({ redis: redisSettings(values.redis), now, wallMs: Date.now }),
        placement,
        decisionTimeoutMs: values.webhook.decisionTimeout,
        logging: values.logging,
        now,
      }),
    certificates,
    logger,
    now,
  });

  const eventLoop = new EventLoop();
  const { readiness } = lifecycle;
  readiness.add('certificate', certificateCheck(certificates, Date.now));
  for (const each of stores) {
    readiness.add(each.name, () => each.hasSynced() || 'not listed yet');
  }
  const state = () => ({
    ledger: { ...ledger.health(), embedded: isEmbedded(values.redis) },
    stores: Object.fromEntries([...stores, newborns].map(({ name, size }) => [name, size])),
    onDemandSeen: offer.seen,
    replicaSets: owners.size,
    revisions: reserver.revisions,
    rssBytes: process.memoryUsage.rss(),
  });
  const { health, metrics: metricsPort, debug } = values;
  lifecycle.add(
    eventLoop,
    healthServer({ port: health.port, eventLoop, readiness, logger }),
    ...(metricsPort.enabled ? [metricsServer({ port: metricsPort.port, exposition: metrics, logger })] : []),
    debugServer({ port: debug.port, state, logger }),
    live,
    { name: 'api-client', stop: () => transport.close() },
    { name: 'events', stop: () => recorder.stop(EVENTS_DEADLINE_MS) },
    { name: 'ledger', stop: () => ledger.close() },
    certificates,
    ...stores,
    newborns,
    offer,
    rehearsal,
    server,
  );
  return { lifecycle, port: () => server.port };
}

/** The same object as long as the configuration is the same. */
function defaultsOf(configuration: () => Configuration): () => PolicyDefaults {
  let of: Configuration | undefined;
  let defaults: PolicyDefaults = {};
  return () => {
    const current = configuration();
    if (current !== of) {
      of = current;
      defaults = policyDefaults(current);
    }
    return defaults;
  };
}

/** The replicas have no numbers, so each takes one at random: two of the same only cost some patches later. */
function laneOf(replicas = PROBABLE_REPLICAS): Lane {
  return { index: Math.floor(Math.random() * replicas), of: replicas };
}
