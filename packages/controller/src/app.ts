import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type ObservedWorkload, readCapacity, scheduleIsCron } from '@spotalis/core';
import { ApiClient, type Credentials, EventRecorder, ownPod, Transport } from '@spotalis/kube';
import { isEmbedded, openLedger, redisSettings } from '@spotalis/ledger';
import {
  accepted,
  type Component,
  debugServer,
  EventLoop,
  followConfiguration,
  healthServer,
  leaderMetrics,
  Lifecycle,
  type LoadedConfiguration,
  Metrics,
  metricsServer,
  namespaceAt,
  reflectorMetrics,
  restClientMetrics,
  type RootLogger,
} from '@spotalis/runtime';
import { Annotator } from './act/annotator.ts';
import { Evictor } from './act/evictor.ts';
import { Flights } from './act/flights.ts';
import { Bridger } from './drought/bridger.ts';
import { Droughts } from './drought/droughts.ts';
import { Shapes } from './drought/shapes.ts';
import { Bypass } from './gate/bypass.ts';
import { WebhookProbe } from './gate/webhook.ts';
import { followAdmissions, liftHolds, sweepFlights, watchWebhook } from './lead/duties.ts';
import { Leading } from './lead/leading.ts';
import { Leadership } from './lead/leadership.ts';
import { leadMetrics } from './lead/metrics.ts';
import { Problems } from './lead/problems.ts';
import { Reconciler } from './lead/reconciler.ts';
import { takeOver } from './lead/succession.ts';
import { Cluster } from './observe/cluster.ts';
import { Observation } from './observe/observation.ts';
import { Reaches } from './observe/reaches.ts';
import { Reflectors } from './observe/reflectors.ts';
import { Rooms } from './observe/rooms.ts';
import { placeholderMetrics } from './placeholder/metrics.ts';
import { deploymentOfPod } from './placeholder/owner.ts';
import { Placeholders } from './placeholder/placeholders.ts';
import { Changes } from './rebalance/changes.ts';
import { Holds } from './rebalance/holds.ts';
import { Ledgers } from './rebalance/ledgers.ts';
import { Rebalancer } from './rebalance/rebalancer.ts';
import { Bulletins } from './report/bulletin.ts';
import { droughtMetrics, DroughtNarrator } from './report/droughts.ts';
import { moveMetrics } from './report/metrics.ts';
import { viewConditions } from './report/views.ts';
import { Narrator } from './report/narrator.ts';
import { classifierOf, managedIn, policiesOf, rebalanceSettings } from './settings.ts';
import { workersMaker } from './workers.ts';

const LEASE_NAME = 'spotalis-controller';
/** Looks at a workload that may be late before it counts as one that nobody looks at. */
const MISSED_LOOKS = 3;
/** Events are for people; a stop does not wait long for them. */
const EVENTS_DEADLINE_MS = 2_000;

const now = (): number => performance.now();
/** Windows, and the ages of pods, are told by the clock on the wall. */
const wallMs = (): number => Date.now();

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
  // Whatever can be wrong with the configuration comes before anything that holds a connection.
  const leaseNamespace = namespaceAt(
    'controller.leaderElection.namespace',
    values.controller.leaderElection.namespace,
    credentials.namespace,
  );
  /** Where the Lease is may be elsewhere. */
  const ownNamespace = credentials.namespace ?? leaseNamespace;
  const { nodeLabels, placement } = accepted(readCapacity(values));
  const classify = classifierOf(nodeLabels);
  const isManaged = managedIn(values.scope);
  const random = Math.random;
  const metrics = new Metrics().collectProcess();
  const lifecycle = new Lifecycle(logger);
  const workers = workersMaker(metrics, logger);
  const identity = `${hostname()}_${randomUUID()}`;

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

  const { live } = followConfiguration({
    configuration,
    metrics,
    logger,
    rules: [scheduleIsCron],
    changed(changed, keys) {
      if (keys.includes('readOnlyMode') && !changed.readOnlyMode) observation?.writesAllowed();
      leading.again();
    },
    refused: ({ message }) =>
      recorder.record({
        regarding: ownPod(ownNamespace),
        type: 'Warning',
        reason: 'InvalidConfiguration',
        action: 'ReloadConfiguration',
        note: message,
      }),
  });
  const settings = rebalanceSettings(placement, () => live.current);

  const cluster = new Cluster(isManaged, (error) => logger.error('observer failed', { error }));
  const isConfined = values.scope.namespaces.length > 0;
  const rooms = new Rooms(cluster, { onlyProven: isConfined && values.fallback.probe === 'placeholder' });
  const shapes = new Shapes(cluster, wallMs);
  const reflectorMetric = reflectorMetrics(metrics);
  const reflectors = new Reflectors({
    client,
    cluster,
    namespaces: values.scope.namespaces,
    ownNamespace,
    classify,
    observer: (name) => ({
      ...reflectorMetric.observer(name),
      rejected: (error) => logger.error('object not understood', { resource: name, error }),
    }),
  });

  // An embedded ledger is inside the webhook, which observes pods for itself.
  const ledger = isEmbedded(values.redis)
    ? undefined
    : openLedger({
        redis: redisSettings(values.redis),
        now,
        wallMs,
        observer: { mode: (mode, code) => logger.info('ledger', { mode, code }) },
      });
  const observation =
    ledger === undefined
      ? undefined
      : new Observation({
          cluster,
          ledger,
          client,
          workers,
          mayWrite: () => !live.current.readOnlyMode,
          isLeader: () => leadership.isLeader,
          podsAreFollowed: reflectors.podsAreFollowed,
          onLedgerChange: (replicaSetUid) => leading.ledgerChanged(replicaSetUid),
          logger,
          now,
          random,
        });

  if (ledger === undefined) {
    const note = 'inside the webhook, so that pods that wait for spot capacity get no substitutes';
    logger.warn(`the ledger is ${note}`);
    lifecycle.readiness.add('ledger', () => ({ note }));
  }
  const leaseMetric = leaderMetrics(metrics, LEASE_NAME);
  const moveMetric = moveMetrics(metrics);
  const droughtMetric = droughtMetrics(metrics);
  const narrator = new Narrator({ recorder, metrics: moveMetric, logger });
  viewConditions(metrics, () => narrator.conditions(wallMs()));

  const mayWrite = (): boolean => leadership.mayWrite();
  const flights = new Flights();
  const holds = new Holds(random);
  const bypass = new Bypass();
  const changes = new Changes(cluster, wallMs);
  const probe = new WebhookProbe({
    client,
    configurationName: values.webhook.configurationName,
    onChange(health) {
      moveMetric.webhookServing(health.kind === 'serving');
      if (health.kind === 'serving') logger.info('the webhook serves');
      else logger.warn('the webhook does not serve; nothing is moved', { why: health.detail });
      leading.again();
    },
  });
  const ledgers = new Ledgers({
    cluster,
    ledger,
    verify: async (replicaSetUid) => observation?.verify(replicaSetUid),
  });
  /** Once more before each write: a decision may be overtaken while it is carried out. */
  const mayActOn = (workload: ObservedWorkload): boolean =>
    mayWrite() && !live.current.readOnlyMode && cluster.isStillManaged(workload);
  const evictor = new Evictor(client, mayWrite);
  const bulletins = new Bulletins({
    client,
    cluster,
    namespace: ownNamespace,
    writer: identity,
    mayWrite,
    isReadOnly: () => live.current.readOnlyMode,
    logger,
    now: wallMs,
    after(ms, task) {
      const timer = setTimeout(task, ms).unref();
      return () => clearTimeout(timer);
    },
  });
  const droughts = ledger && new Droughts({ cluster, ledger, shapes, bulletins, logger });
  const bridger =
    droughts &&
    new Bridger({
      droughts,
      evictor,
      probe,
      holds,
      narrator: new DroughtNarrator({ recorder, metrics: droughtMetric, logger, now: wallMs }),
      settings,
      mayActOn,
      now: wallMs,
      logger,
    });
  const policyOf = policiesOf(cluster, () => live.current);
  const moveTimeoutMs = (): number => live.current.rebalance.moveTimeout;
  const placeholders = new Placeholders({
    cluster,
    client,
    namespace: ownNamespace,
    settings: {
      enabled: values.fallback.probe === 'placeholder',
      image: values.fallback.placeholderImage,
      priorityClass: values.fallback.placeholderPriorityClass,
      max: values.fallback.maxPlaceholders,
      waitMs: values.fallback.placeholderTimeout,
      ageMs: values.fallback.placeholderTimeout + values.rebalance.moveTimeout,
      wishMs: MISSED_LOOKS * values.controller.resyncPeriod,
    },
    backoff: () => settings().fallback.backoff,
    owner: () => deploymentOfPod(cluster, leaseNamespace, hostname()),
    mayWrite,
    isReadOnly: () => live.current.readOnlyMode,
    metrics: placeholderMetrics(metrics),
    logger,
    now: wallMs,
  });
  const rebalancer = new Rebalancer({
    sources: {
      placeholders,
      cluster,
      rooms,
      changes,
      flights,
      droughts,
      settings,
      webhook: () => (probe.health.kind === 'serving' ? (bypass.state ?? probe.health) : probe.health),
    },
    evictor,
    bridger,
    annotator: new Annotator({ client, pause: (ms) => delay(ms) }),
    holds,
    placeholders,
    bypass,
    probe,
    narrator,
    metrics: moveMetric,
    logger,
    moveTimeoutMs,
    relist: (workload) => ledgers.verified(workload),
    policyOf,
    mayActOn,
    now: wallMs,
  });
  const reconciler = new Reconciler({
    cluster,
    problems: new Problems(recorder),
    logger,
    policyOf,
    isConfined,
    ledgers,
    reaches:
      ledger &&
      new Reaches({
        cluster,
        ledger,
        shapes,
        rooms,
        mayWrite: () => mayWrite() && !live.current.readOnlyMode,
        now: wallMs,
      }),
    rebalancer,
    resyncPeriodMs: values.controller.resyncPeriod,
    random,
  });
  const leadMetric = leadMetrics(metrics, () => reconciler.reported.values());
  const inherit = (): (() => void) => {
    const lease = leaderElection.enabled
      ? { namespace: leaseNamespace, name: LEASE_NAME, identity }
      : undefined;
    takeOver({ cluster, flights, client, lease, now: wallMs, logger });
    return () => undefined;
  };
  const leading = new Leading({
    cluster,
    workers: workers('workload', values.controller.workers),
    reconciler,
    drifting: () => narrator.drifting(),
    duties: [
      inherit,
      () => changes.follow(),
      () => placeholders.lead(),
      ...(ledger === undefined ? [] : [() => bulletins.lead()]),
      () => liftHolds(cluster, holds),
      () => watchWebhook(probe),
      () => followAdmissions(cluster, bypass, () => leading.again()),
      () => sweepFlights(flights, moveMetric, moveTimeoutMs, wallMs),
      () => {
        observation?.led();
        return () => undefined;
      },
    ],
  });

  const { leaderElection } = values.controller;
  const leadership = new Leadership({
    enabled: leaderElection.enabled,
    client,
    namespace: leaseNamespace,
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
    webhook: bypass.state ?? probe.health,
    movesInFlight: flights.state(),
    placeholders: placeholders.state(),
    workloads: Object.fromEntries(
      [...reconciler.reported].map(([subject, { report }]) => [
        subject,
        { ...report, rebalance: narrator.shown(subject) },
      ]),
    ),
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
