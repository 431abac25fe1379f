import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type CapacityType,
  classifyNode,
  type Labels,
  managed,
  type PolicyDefaults,
  readNodeLabels,
  type Scope,
} from '@spotalis/core';
import { ApiClient, type Credentials, EventRecorder, Transport } from '@spotalis/kube';
import {
  type Component,
  type Configuration,
  ConfigurationError,
  configurationMetrics,
  debugServer,
  EventLoop,
  healthServer,
  leaderMetrics,
  Lifecycle,
  type LoadedConfiguration,
  Metrics,
  metricsServer,
  reflectorMetrics,
  restClientMetrics,
  type RootLogger,
} from '@spotalis/runtime';
import { Leading } from './lead/leading.ts';
import { Leadership } from './lead/leadership.ts';
import { leadMetrics } from './lead/metrics.ts';
import { Problems } from './lead/problems.ts';
import { Reconciler } from './lead/reconciler.ts';
import { Cluster } from './observe/cluster.ts';
import type { ObservedNamespace } from './observe/namespace.ts';
import { Observation } from './observe/observation.ts';
import { Reflectors } from './observe/reflectors.ts';
import type { ObservedWorkload } from './observe/workload.ts';
import { openSharedLedger } from './shared-ledger.ts';
import { workersMaker } from './workers.ts';

const LEASE_NAME = 'spotalis-controller';
const RECONCILE_WORKERS = 5;
/** Events are for people; a stop does not wait long for them. */
const EVENTS_DEADLINE_MS = 2_000;

const now = (): number => performance.now();

export interface AppParts {
  readonly configuration: LoadedConfiguration;
  readonly credentials: Credentials;
  readonly logger: RootLogger;
}

/**
 * The whole service, wired. It starts in this order and stops in reverse: health and metrics, the stores, the
 * observers, the election, the leader's work. The Lease goes last, when nothing of ours acts any more.
 */
export function createController({ configuration, credentials, logger }: AppParts): Lifecycle {
  const { values } = configuration;
  const random = Math.random;
  const metrics = new Metrics().collectProcess();
  const lifecycle = new Lifecycle(logger);
  const workers = workersMaker(metrics, logger);
  const identity = `${hostname()}_${randomUUID()}`;

  const reloads = configurationMetrics(metrics);
  const live = configuration.follow({
    changed(changed, keys) {
      reloads.changed();
      logger.info('configuration changed', { keys });
      logger.setLevel(changed.logging.level);
      if (keys.includes('readOnlyMode') && !changed.readOnlyMode) observation?.writesAllowed();
      leading.again();
    },
    rejected(error) {
      reloads.rejected();
      logger.error('changed configuration refused; the former one stays in force', { error });
    },
    needsRestart(keys) {
      reloads.needsRestart();
      logger.warn('changed configuration needs a restart', { keys });
    },
  });

  const restCalls = restClientMetrics(metrics);
  const transport = new Transport({
    credentials,
    userAgent: 'spotalis-controller',
    observe: (call) => restCalls.finished(call),
  });
  const client = new ApiClient(transport);
  const recorder = new EventRecorder({
    client,
    controller: 'spotalis.io/controller',
    instance: hostname(),
    onDropped: (why, event, error) => logger.warn('event not written', { why, reason: event.reason, error }),
  });

  const cluster = new Cluster(isManagedIn(values.scope), (error) =>
    logger.error('observer failed', { error }),
  );
  const reflectorMetric = reflectorMetrics(metrics);
  const reflectors = new Reflectors({
    client,
    cluster,
    classify: classifierOf(values.nodeLabels),
    observer: (name) => ({
      ...reflectorMetric.observer(name),
      rejected: (error) => logger.error('object not understood', { resource: name, error }),
    }),
  });

  const ledger = openSharedLedger(values.redis, now, {
    mode: (mode, code) => logger.info('ledger', { mode, code }),
  });
  const mayWriteLedger = (): boolean => !live.current.readOnlyMode;
  const observation =
    ledger === undefined
      ? undefined
      : new Observation({
          cluster,
          ledger,
          client,
          workers,
          mayWrite: mayWriteLedger,
          isLeader: () => leadership.isLeader,
          logger,
          now,
          random,
        });

  const leadMetric = leadMetrics(metrics);
  const leaseMetric = leaderMetrics(metrics, LEASE_NAME);
  const reconciler = new Reconciler({
    cluster,
    problems: new Problems(recorder),
    metrics: leadMetric,
    logger,
    policyDefaults: () => policyDefaultsOf(live.current.defaults),
    ledger,
    resyncPeriodMs: values.controller.resyncPeriod,
    random,
  });
  const leading = new Leading(cluster, workers('workload', RECONCILE_WORKERS), reconciler, () =>
    observation?.led(),
  );

  const { leaderElection } = values.controller;
  const leadership = new Leadership({
    enabled: leaderElection.enabled,
    client,
    namespace: leaseNamespaceOf(leaderElection.namespace, credentials),
    leaseName: LEASE_NAME,
    identity,
    timing: {
      leaseDurationMs: leaderElection.leaseDuration,
      renewDeadlineMs: leaderElection.renewDeadline,
      retryPeriodMs: leaderElection.retryPeriod,
    },
    onChange: (isLeader) => {
      leadMetric.leading(isLeader);
      leaseMetric.leading(isLeader);
    },
    work: leading,
    logger,
  });

  const state = (): unknown => ({
    identity,
    leader: { isLeader: leadership.isLeader, holder: leadership.holder },
    readOnly: live.current.readOnlyMode,
    stores: cluster.sizes(),
    ledger: ledger?.health() ?? 'inside the webhook',
    observation: observation?.state() ?? null,
    workloads: Object.fromEntries(reconciler.reports()),
  });
  const eventLoop = new EventLoop();
  lifecycle.readiness.add('stores', reflectors.check);
  return lifecycle.add(
    eventLoop,
    healthServer({ port: values.health.port, eventLoop, readiness: lifecycle.readiness, logger }),
    ...(values.metrics.enabled
      ? [metricsServer({ port: values.metrics.port, exposition: metrics, logger })]
      : []),
    debugServer({ port: values.debug.port, state, logger }),
    live,
    stopsWith('connections', () => transport.close()),
    stopsWith('events', () => recorder.stop(EVENTS_DEADLINE_MS)),
    stopsWith('lease', () => leadership.release()),
    reflectors,
    ...(ledger === undefined ? [] : [stopsWith('ledger', () => ledger.close())]),
    ...(observation === undefined ? [] : [observation]),
    leadership,
  );
}

const stopsWith = (name: string, stop: () => Promise<void>): Component => ({ name, stop });

function isManagedIn(scope: Scope) {
  return (namespace: ObservedNamespace | undefined, workload: ObservedWorkload): boolean =>
    managed(
      {
        namespace: workload.metadata.namespace ?? '',
        namespaceLabels: namespace?.labels ?? {},
        workloadLabels: workload.labels,
      },
      scope,
    ).managed;
}

function classifierOf(texts: Configuration['nodeLabels']): (labels: Labels) => CapacityType | undefined {
  const reading = readNodeLabels(texts);
  if (!reading.ok) throw new ConfigurationError(reading.problems);
  return (labels) => {
    const type = classifyNode(labels, reading.labels);
    return type === 'unknown' ? undefined : type;
  };
}

/** The configuration holds numbers; a policy is read from texts, as annotations are. */
function policyDefaultsOf({ spotPercentage, minOnDemand }: Configuration['defaults']): PolicyDefaults {
  return {
    ...(spotPercentage === undefined ? {} : { spotPercentage: String(spotPercentage) }),
    ...(minOnDemand === undefined ? {} : { minOnDemand: String(minOnDemand) }),
  };
}

function leaseNamespaceOf(configured: string | undefined, credentials: Credentials): string {
  const namespace = configured ?? credentials.namespace;
  if (namespace !== undefined && namespace !== '') return namespace;
  throw new ConfigurationError([
    {
      key: 'controller.leaderElection.namespace',
      message:
        'is not set, and the kubeconfig names no namespace either; set it, for example spotalis-system',
    },
  ]);
}
