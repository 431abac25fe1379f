import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type ProductSettings, readCapacity } from '@spotalis/core';
import { ApiClient, type Credentials, EventRecorder, ownPod, Transport } from '@spotalis/kube';
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
  restClientMetrics,
  type RootLogger,
} from '@spotalis/runtime';
import { wallMs } from './kernel/clocks.ts';
import {
  followAdmissions,
  liftHolds,
  followDisruptions,
  watchWebhook,
} from './modules/distribution/duties.ts';
import { Leading } from './kernel/leader/leading.ts';
import { Leadership } from './kernel/leader/leadership.ts';
import { leadMetrics } from './modules/distribution/report/workloads.ts';
import { Problems } from './modules/distribution/report/problems.ts';
import { Reconciler } from './modules/distribution/reconciler.ts';
import { takeOver } from './kernel/leader/succession.ts';
import { type Moving, openMoving } from './moving.ts';
import { Reaches } from './modules/distribution/ledger/reaches.ts';
import { type Observing, openObserving } from './observing.ts';
import type { ControllerEvent } from './modules/distribution/report/events.ts';
import { workersMaker } from './kernel/workers.ts';

const LEASE_NAME = 'spotalis-controller';
/** Events are for people; a stop does not wait long for them. */
const EVENTS_DEADLINE_MS = 2_000;

export interface AppParts {
  readonly configuration: LoadedConfiguration<ProductSettings>;
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
  const recorder = new EventRecorder<ControllerEvent>({
    client,
    controller: 'spotalis.io/controller',
    instance: hostname(),
    onDropped: (why, event, error) => logger.warn('event not written', { why, reason: event.reason, error }),
  });

  const { live } = followConfiguration({
    configuration,
    metrics,
    logger,
    changed(changed, keys) {
      if (keys.includes('readOnlyMode') && !changed.readOnlyMode) observing.observation?.writesAllowed();
      if (keys.some((key) => key.startsWith('defaults.'))) moving.sharedDefaults.changed(wallMs());
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

  const mayWrite = (): boolean => leadership.mayWrite();
  const isReadOnly = (): boolean => live.current.readOnlyMode;
  const observing = openObserving({
    values,
    isReadOnly,
    nodeLabels,
    placement,
    client,
    ownNamespace,
    workers,
    isLeader: () => leadership.isLeader,
    onLedgerChange: (replicaSetUid) => leading.ledgerChanged(replicaSetUid),
    metrics,
    logger,
  });
  const { cluster, isConfined, rooms, shapes, reflectors, ledger, observation } = observing;
  if (ledger === undefined) {
    const note = 'inside the webhook, so that pods that wait for spot capacity get no substitutes';
    logger.warn(`the ledger is ${note}`);
    lifecycle.readiness.add('ledger', () => ({ note }));
  }
  const moving = openMoving({
    observing,
    values,
    live: () => live.current,
    placement,
    client,
    recorder,
    identity,
    ownNamespace,
    leaseNamespace,
    mayWrite,
    onWebhookChange: () => leading.again(),
    workers,
    lookAgain: (subject, afterMs) => leading.lookAgain(subject, afterMs),
    metrics,
    logger,
  });
  const { ledgers, rebalancer, narrator, policyOf } = moving;
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
        mayWrite: () => mayWrite() && !isReadOnly(),
        now: wallMs,
      }),
    rebalancer,
    resyncPeriodMs: values.controller.resyncPeriod,
    random: Math.random,
  });

  const { leaderElection } = values.controller;
  const lease = { namespace: leaseNamespace, name: LEASE_NAME, identity };
  const leading: Leading = new Leading({
    cluster,
    workers: workers('workload', values.controller.workers),
    reconciler,
    drifting: () => narrator.drifting(),
    duties: [
      () => {
        const { register } = moving;
        takeOver({
          cluster,
          register,
          client,
          lease: leaderElection.enabled ? lease : undefined,
          moveTimeoutMs: moving.moveTimeoutMs,
          now: wallMs,
          logger,
        });
        return () => undefined;
      },
      ...dutiesOf(observing, moving, () => leading.again()),
    ],
  });
  const leadMetric = leadMetrics(metrics, () => reconciler.reported.values());
  const leaseMetric = leaderMetrics(metrics, LEASE_NAME);
  const leadership = new Leadership({
    enabled: leaderElection.enabled,
    client,
    namespace: lease.namespace,
    leaseName: lease.name,
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
    readOnly: isReadOnly(),
    stores: cluster.sizes(),
    ledger: ledger?.health() ?? 'inside the webhook',
    observation: observation?.state() ?? null,
    webhook: moving.bypass.state ?? moving.probe.health,
    movesInFlight: moving.register.state(),
    placeholders: moving.placeholders.state(),
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

/** What begins with leading, once it is known what is under way. Each returns its way out. */
function dutiesOf(
  { cluster, ledger, observation }: Observing,
  moving: Moving,
  again: () => void,
): readonly (() => () => void | Promise<void>)[] {
  const { changes, annotator, placeholders, bulletins, holds, probe, executor } = moving;
  return [
    () => changes.follow(),
    () => annotator.lead(),
    () => placeholders.lead(),
    ...(ledger === undefined ? [] : [() => bulletins.lead()]),
    () => liftHolds(cluster, holds),
    () => watchWebhook(probe),
    () => followAdmissions({ cluster, ...moving }, again),
    () => followDisruptions(executor),
    () => {
      observation?.led();
      return () => undefined;
    },
  ];
}

const stopsWith = (name: string, stop: () => Promise<void>): Component => ({ name, stop });
