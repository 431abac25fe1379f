import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Capacity, type Configuration, type ProductSettings, readCapacity } from '@spotalis/core';
import {
  ApiClient,
  type Credentials,
  EventRecorder,
  type KubeObject,
  ownPod,
  type RawObject,
  type Store,
  Transport,
} from '@spotalis/kube';
import {
  accepted,
  type Component,
  followConfiguration,
  leaderMetrics,
  type LoadedConfiguration,
  type Logger,
  Metrics,
  namespaceAt,
  restClientMetrics,
  type RootLogger,
} from '@spotalis/runtime';
import { type ClusterParts, type ObservedCluster, openCluster } from './cluster/open.ts';
import { wallMs } from './clocks.ts';
import { type Disruption, openDisruption } from './disruption/disruption.ts';
import { disruptionMetrics } from './disruption/metrics.ts';
import { Leadership } from './leader/leadership.ts';
import { leaderMetric } from './leader/metrics.ts';
import { openPlaceholders } from './proof/open.ts';
import type { Placeholders } from './proof/placeholders.ts';
import { Reloads } from './reloads.ts';
import type { kernelEvents } from './report/events.ts';
import { Runners } from './runner.ts';
import type { Watch } from './watch.ts';
import { type WorkersMaker, workersMaker } from './workers.ts';

export const LEASE_NAME = 'spotalis-controller';
/** Events are for people; a stop does not wait long for them. */
const EVENTS_DEADLINE_MS = 2_000;

export interface KernelParts {
  readonly configuration: LoadedConfiguration<ProductSettings>;
  readonly credentials: Credentials;
  readonly logger: RootLogger;
}

/** What all modules share. */
export interface Kernel extends ObservedCluster {
  /** As they were at the start. */
  readonly values: Configuration;
  /** The values in force, of which some change while the service runs. */
  readonly live: () => Configuration;
  readonly reloads: Pick<Reloads, 'follow'>;
  readonly capacity: Pick<Capacity, 'nodeLabels' | 'placement'>;
  readonly client: ApiClient;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly workers: WorkersMaker;
  /** Of this process among those that may lead. */
  readonly identity: string;
  readonly ownNamespace: string;
  readonly isLeader: () => boolean;
  readonly isReadOnly: () => boolean;
  /** Whether a write may begin: the fence of every write. */
  readonly mayWrite: () => boolean;
  readonly moveTimeoutMs: () => number;
  readonly disruption: Disruption;
  readonly placeholders: Placeholders;
  /** What a module watches for itself. */
  readonly storeOf: <R extends RawObject, T extends KubeObject>(watch: Watch<R, T>) => Store<T>;
}

/** Beside what modules see of it: what runs, and what runs them. */
export interface OpenKernel extends Omit<Kernel, 'storeOf'> {
  readonly leadership: Leadership;
  readonly leaseNamespace: string;
  readonly runners: Runners;
  /** What they hold open lasts until all others have stopped. The Lease goes when nothing of ours acts any more. */
  readonly connections: readonly Component[];
}

/** Whatever can be wrong with the configuration comes before anything that holds a connection. */
export function openKernel({ configuration, credentials, logger }: KernelParts): OpenKernel {
  const { values } = configuration;
  const { namespace } = values.controller.leaderElection;
  const leaseNamespace = namespaceAt('controller.leaderElection.namespace', namespace, credentials.namespace);
  /** Where the Lease is may be elsewhere. */
  const ownNamespace = credentials.namespace ?? leaseNamespace;
  const capacity = accepted(readCapacity(values));
  const metrics = new Metrics().collectProcess();
  const { transport, client, recorder } = openClient(credentials, metrics, logger);
  const { following, reloads, live } = follow(configuration, ownNamespace, recorder, metrics, logger);
  const isReadOnly = (): boolean => live().readOnlyMode;
  const identity = `${hostname()}_${randomUUID()}`;
  const leadership = openLeadership({ values, client, identity, leaseNamespace, metrics, logger });
  const { mayWrite } = leadership;
  const clusterParts: ClusterParts = { values, capacity, client, ownNamespace, metrics, logger };
  const observed = openCluster(clusterParts);
  const runners = new Runners();
  const moveTimeoutMs = (): number => live().rebalance.moveTimeout;
  const disruption = openDisruption({
    cluster: observed.cluster,
    client,
    mayWrite,
    budgets() {
      const { rebalance, fallback } = live();
      const { maxInFlight, maxMovesPerMinute } = rebalance;
      return { maxInFlight, maxMovesPerMinute, maxRemovalsPerMinute: fallback.maxRemovalsPerMinute };
    },
    moveTimeoutMs,
    wake: (asker) => runners.wake(asker),
    onCount: disruptionMetrics(metrics),
    now: wallMs,
    logger,
  });
  return {
    ...observed,
    values,
    live,
    reloads,
    capacity,
    client,
    recorder,
    metrics,
    logger,
    workers: workersMaker(metrics, logger),
    identity,
    ownNamespace,
    isLeader: () => leadership.isLeader,
    isReadOnly,
    mayWrite,
    moveTimeoutMs,
    disruption,
    placeholders: openPlaceholders({
      values,
      live,
      cluster: observed.cluster,
      client,
      ownNamespace,
      leaseNamespace,
      mayWrite,
      isReadOnly,
      metrics,
      logger,
    }),
    leadership,
    leaseNamespace,
    runners,
    connections: [
      following.live,
      { name: 'connections', stop: () => transport.close() },
      { name: 'events', stop: () => recorder.stop(EVENTS_DEADLINE_MS) },
      { name: 'lease', stop: () => leadership.release() },
    ],
  };
}

function openClient(credentials: Credentials, metrics: Metrics, logger: Logger) {
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
  return { transport, client, recorder };
}

/** The configuration in force, which those who go by it may follow. */
function follow(
  configuration: KernelParts['configuration'],
  ownNamespace: string,
  recorder: EventRecorder,
  metrics: Metrics,
  logger: RootLogger,
) {
  const reloads = new Reloads();
  const following = followConfiguration({
    configuration,
    metrics,
    logger,
    changed: (changed, keys) => reloads.tell(changed, keys),
    refused: ({ message }) =>
      recorder.record({
        regarding: ownPod(ownNamespace),
        type: 'Warning',
        reason: 'InvalidConfiguration' satisfies keyof typeof kernelEvents,
        action: 'ReloadConfiguration',
        note: message,
      }),
  });
  const live = (): Configuration => following.live.current;
  return { following, reloads, live };
}

interface LeadershipNeeds {
  readonly values: Configuration;
  readonly client: ApiClient;
  readonly identity: string;
  readonly leaseNamespace: string;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

function openLeadership({ values, metrics, leaseNamespace, ...parts }: LeadershipNeeds): Leadership {
  const { enabled, leaseDuration, renewDeadline, retryPeriod } = values.controller.leaderElection;
  const ours = leaderMetric(metrics);
  const usual = leaderMetrics(metrics, LEASE_NAME);
  return new Leadership({
    ...parts,
    enabled,
    namespace: leaseNamespace,
    leaseName: LEASE_NAME,
    timing: { leaseDurationMs: leaseDuration, renewDeadlineMs: renewDeadline, retryPeriodMs: retryPeriod },
    onChange(isLeader) {
      ours(isLeader);
      usual.leading(isLeader);
    },
  });
}
