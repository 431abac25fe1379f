import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Configuration, ObservedWorkload, Placement, PolicyReading } from '@spotalis/core';
import type { ApiClient, EventRecorder } from '@spotalis/kube';
import type { Logger, Metrics } from '@spotalis/runtime';
import { ANNOTATED_AT_ONCE, Annotator } from './modules/distribution/annotate/annotator.ts';
import type { Register } from './kernel/disruption/register.ts';
import { wallMs } from './kernel/clocks.ts';
import { Bridger } from './modules/distribution/drought/bridger.ts';
import { Droughts } from './modules/distribution/drought/droughts.ts';
import type { Executor } from './kernel/disruption/executor.ts';
import { subjectOfAsker } from './kernel/cluster/subject.ts';
import { openDisruption } from './kernel/disruption/disruption.ts';
import { disruptionMetrics } from './kernel/disruption/metrics.ts';
import { RefusedAnnotations } from './modules/distribution/annotate/refused.ts';
import { Moves } from './modules/distribution/rebalance/moves.ts';
import { Bypass } from './modules/distribution/webhook/bypass.ts';
import { SharedDefaults } from './modules/distribution/webhook/shared-defaults.ts';
import { WebhookProbe } from './modules/distribution/webhook/probe.ts';
import type { Observing } from './observing.ts';
import { placeholderMetrics } from './kernel/proof/metrics.ts';
import { deploymentOfPod } from './kernel/proof/owner.ts';
import { Placeholders } from './kernel/proof/placeholders.ts';
import { Changes } from './modules/distribution/rebalance/changes.ts';
import type { Holds } from './kernel/disruption/holds.ts';
import { Ledgers } from './modules/distribution/ledger/ledgers.ts';
import { Rebalancer } from './modules/distribution/rebalance/rebalancer.ts';
import { Bulletins } from './modules/distribution/drought/bulletin.ts';
import { droughtMetrics, DroughtNarrator } from './modules/distribution/drought/narrator.ts';
import type { ControllerEvent } from './modules/distribution/report/events.ts';
import { type MoveMetrics, moveMetrics } from './modules/distribution/report/metrics.ts';
import { Narrator } from './modules/distribution/report/narrator.ts';
import { viewConditions } from './modules/distribution/report/views.ts';
import type { WorkersMaker } from './kernel/workers.ts';
import { admissionsOf, decisionSettings, policiesOf } from './settings.ts';

/** Looks at a workload that may be late before it counts as one that nobody looks at. */
const MISSED_LOOKS = 3;

export interface MovingParts {
  readonly observing: Observing;
  readonly values: Configuration;
  /** The values in force, of which some change while the service runs. */
  readonly live: () => Configuration;
  readonly placement: Placement;
  readonly client: ApiClient;
  readonly recorder: EventRecorder<ControllerEvent>;
  /** Of this process among those that may lead. */
  readonly identity: string;
  readonly ownNamespace: string;
  readonly leaseNamespace: string;
  readonly mayWrite: () => boolean;
  /** The webhook serves, or does so no more: every workload is to be looked at. */
  readonly onWebhookChange: () => void;
  /** Has one workload looked at, after so many milliseconds. */
  readonly lookAgain: (subject: string, afterMs: number) => void;
  readonly workers: WorkersMaker;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export interface Moving {
  readonly rebalancer: Rebalancer;
  readonly ledgers: Ledgers;
  readonly policyOf: (workload: ObservedWorkload) => PolicyReading;
  readonly narrator: Narrator;
  readonly changes: Changes;
  readonly register: Register;
  readonly executor: Executor;
  readonly moveTimeoutMs: () => number;
  readonly holds: Holds;
  readonly probe: WebhookProbe;
  readonly bypass: Bypass;
  readonly sharedDefaults: SharedDefaults;
  readonly annotator: Annotator;
  readonly placeholders: Placeholders;
  readonly bulletins: Bulletins;
  readonly moveMetric: MoveMetrics;
}

/** What the leader moves pods with, and what keeps it from moving them. */
export function openMoving(parts: MovingParts): Moving {
  const { observing, values, live, placement, client, recorder, ownNamespace, mayWrite } = parts;
  const { metrics, logger } = parts;
  const { cluster, rooms, shapes, ledger, observation } = observing;
  const isReadOnly = (): boolean => live().readOnlyMode;
  /** Once more before each write: a decision may be overtaken while it is carried out. */
  const mayActOn = (workload: ObservedWorkload): boolean =>
    mayWrite() && !isReadOnly() && cluster.isStillManaged(workload);

  const settings = decisionSettings(placement, live);
  const policyOf = policiesOf(cluster, live);
  const moveTimeoutMs = (): number => live().rebalance.moveTimeout;
  const moveMetric = moveMetrics(metrics);
  const narrator = new Narrator({ recorder, metrics: moveMetric, logger });
  viewConditions(metrics, () => narrator.conditions(wallMs()));

  const changes = new Changes(cluster, wallMs);
  const probe = new WebhookProbe({
    client,
    configurationName: values.webhook.configurationName,
    onChange(health) {
      moveMetric.webhookServing(health.kind === 'serving');
      if (health.kind === 'serving') logger.info('the webhook serves');
      else logger.warn('the webhook does not serve; nothing is moved', { why: health.detail });
      parts.onWebhookChange();
    },
  });
  const ledgers = new Ledgers({
    cluster,
    ledger,
    verify: async (replicaSetUid) => observation?.verify(replicaSetUid),
  });
  const { register, holds, executor } = openDisruption({
    cluster,
    client,
    mayWrite,
    budgets() {
      const { maxInFlight, maxMovesPerMinute, fallback } = settings();
      return { maxInFlight, maxMovesPerMinute, maxRemovalsPerMinute: fallback.maxRemovalsPerMinute };
    },
    moveTimeoutMs,
    wake: (asker) => parts.lookAgain(subjectOfAsker(asker), 0),
    onCount: disruptionMetrics(metrics),
    now: wallMs,
    logger,
  });
  const bypass = new Bypass();
  const sharedDefaults = new SharedDefaults();
  const refusedAnnotations = new RefusedAnnotations(Math.random);
  const moves = new Moves({
    cluster,
    bypass,
    sharedDefaults,
    admissionOf: admissionsOf(cluster, policyOf, isReadOnly),
    tookOverAtMs: () => register.tookOverAtMs,
    metrics: moveMetric,
    now: wallMs,
    logger,
  });
  const bulletins = new Bulletins({
    client,
    cluster,
    namespace: ownNamespace,
    writer: parts.identity,
    mayWrite,
    isReadOnly,
    logger,
    now: wallMs,
    after(ms, task) {
      const timer = setTimeout(task, ms).unref();
      return () => clearTimeout(timer);
    },
  });
  const droughtMetric = droughtMetrics(metrics);
  const droughts = ledger && new Droughts({ cluster, ledger, shapes, bulletins, logger });
  const bridger =
    droughts &&
    new Bridger({
      droughts,
      executor,
      probe,
      holds,
      narrator: new DroughtNarrator({ recorder, metrics: droughtMetric, logger, now: wallMs }),
      settings,
      mayActOn,
      now: wallMs,
    });
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
    owner: () => deploymentOfPod(cluster, parts.leaseNamespace, hostname()),
    mayWrite,
    isReadOnly,
    metrics: placeholderMetrics(metrics),
    logger,
    now: wallMs,
  });
  const annotator = new Annotator({
    client,
    workers: parts.workers('annotate', ANNOTATED_AT_ONCE),
    cluster,
    refusals: refusedAnnotations,
    metrics: moveMetric,
    logger,
    mayActOn,
    lookAgain: parts.lookAgain,
    pause: (ms) => delay(ms),
    now: wallMs,
  });
  const rebalancer = new Rebalancer({
    sources: {
      placeholders,
      cluster,
      rooms,
      changes,
      register,
      moves,
      refusedAnnotations,
      isSpent: (namespace) => executor.isSpent(namespace),
      holds,
      bypass,
      sharedDefaults,
      droughts,
      settings,
      webhook: () => (probe.health.kind === 'serving' ? (bypass.state ?? probe.health) : probe.health),
    },
    executor,
    bridger,
    annotator,
    holds,
    refusedAnnotations,
    moves,
    placeholders,
    probe,
    narrator,
    moveTimeoutMs,
    relist: (workload) => ledgers.verified(workload),
    policyOf,
    mayActOn,
    now: wallMs,
  });
  return {
    rebalancer,
    ledgers,
    policyOf,
    narrator,
    changes,
    register,
    executor,
    moveTimeoutMs,
    holds,
    probe,
    bypass,
    sharedDefaults,
    annotator,
    placeholders,
    bulletins,
    moveMetric,
  };
}
