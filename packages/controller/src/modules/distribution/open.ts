import { setTimeout as delay } from 'node:timers/promises';
import { wallMs } from '../../kernel/clocks.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { ANNOTATED_AT_ONCE, Annotator } from './annotate/annotator.ts';
import { RefusedAnnotations } from './annotate/refused.ts';
import { Attention } from './attention.ts';
import { Distribution } from './distribution.ts';
import { openDroughts } from './drought/open.ts';
import { Shapes } from './drought/shapes.ts';
import { Ledgers } from './ledger/ledgers.ts';
import { EMBEDDED, openObservedLedger } from './ledger/open.ts';
import { Reaches } from './ledger/reaches.ts';
import { Changes } from './rebalance/changes.ts';
import { Moves } from './rebalance/moves.ts';
import { Rebalancer } from './rebalance/rebalancer.ts';
import { moveMetrics } from './report/metrics.ts';
import { Narrator } from './report/narrator.ts';
import { Problems } from './report/problems.ts';
import { Reports } from './report/reports.ts';
import { viewConditions } from './report/views.ts';
import { viewWorkloads } from './report/workloads.ts';
import { admissionsOf, decisionSettings, policiesOf } from './settings.ts';
import { openAdmissions } from './webhook/open.ts';

/** Distribution at work: what it knows, what it decides with, and what it reports. */
export function openDistribution(kernel: Kernel): Distribution {
  const { values, live, cluster, client, recorder, rooms, placeholders, isReadOnly, metrics, logger } =
    kernel;
  const { register, holds, executor } = kernel.disruption;
  const settings = decisionSettings(kernel.capacity.placement, live);
  const policyOf = policiesOf(cluster, live);
  const attention = new Attention(cluster);
  const shapes = new Shapes(cluster, wallMs);
  const moveMetric = moveMetrics(metrics);

  const { ledger, observation } = openObservedLedger(kernel, (uid) => attention.ledgerChanged(uid));
  const ledgers = new Ledgers({ cluster, ledger, verify: async (uid) => observation?.verify(uid) });
  const admissions = openAdmissions(kernel, attention, moveMetric, policyOf);
  const { probe, bypass, sharedDefaults } = admissions;
  const drought = ledger && openDroughts(kernel, ledger, shapes, probe, settings);

  const changes = new Changes(cluster, wallMs);
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
  const annotator = new Annotator({
    client,
    workers: kernel.workers('annotate', ANNOTATED_AT_ONCE),
    cluster,
    refusals: refusedAnnotations,
    metrics: moveMetric,
    logger,
    mayActOn: (workload) => kernel.mayWrite() && !isReadOnly() && cluster.isStillManaged(workload),
    lookAgain: (subject, afterMs) => attention.lookAgain(subject, afterMs),
    pause: (ms) => delay(ms),
    now: wallMs,
  });
  const narrator = new Narrator({ recorder, metrics: moveMetric, logger });
  const reports = new Reports({
    cluster,
    problems: new Problems(recorder),
    isConfined: kernel.isConfined,
    logger,
  });
  viewConditions(metrics, () => narrator.conditions(wallMs()));
  viewWorkloads(metrics, () => reports.reported.values());

  const rebalancer = new Rebalancer({
    sources: {
      cluster,
      rooms,
      placeholders,
      changes,
      register,
      moves,
      refusedAnnotations,
      isSpent: (namespace) => executor.isSpent(namespace),
      holds,
      bypass,
      sharedDefaults,
      droughts: drought?.droughts,
      settings,
      webhook: admissions.state,
    },
    executor,
    annotator,
    holds,
    refusedAnnotations,
    moves,
    placeholders,
    bridger: drought?.bridger,
    narrator,
    moveTimeoutMs: kernel.moveTimeoutMs,
    relist: (workload) => ledgers.verified(workload),
    policyOf,
    now: wallMs,
  });
  return new Distribution({
    cluster,
    attention,
    reports,
    policyOf,
    ledgers,
    reaches:
      ledger &&
      new Reaches({
        cluster,
        ledger,
        shapes,
        rooms,
        mayWrite: () => kernel.mayWrite() && !isReadOnly(),
        now: wallMs,
      }),
    rebalancer,
    narrator,
    probe,
    isReadOnly,
    duties: [
      () => changes.follow(),
      () => annotator.lead(),
      ...(drought === undefined ? [] : [() => drought.bulletins.lead()]),
      ...admissions.duties,
      () => {
        observation?.led();
        return () => undefined;
      },
    ],
    queue: { name: 'workload', workers: values.controller.workers },
    components: [
      ...(ledger === undefined ? [] : [{ name: 'ledger', stop: () => ledger.close() }]),
      ...(observation === undefined ? [] : [observation]),
    ],
    notes: ledger === undefined ? { ledger: EMBEDDED } : {},
    known: () => ({
      ledger: ledger?.health() ?? 'inside the webhook',
      observation: observation?.state() ?? null,
      webhook: bypass.state ?? probe.health,
    }),
    resyncPeriodMs: values.controller.resyncPeriod,
    random: Math.random,
  });
}
