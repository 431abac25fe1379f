import { setTimeout as delay } from 'node:timers/promises';
import type { ObservedWorkload, PolicyReading, RebalanceSettings } from '@spotalis/core';
import { wallMs } from '../../../kernel/clocks.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import { ANNOTATED_AT_ONCE, Annotator } from '../annotate/annotator.ts';
import { RefusedAnnotations } from '../annotate/refused.ts';
import type { Attention } from '../attention.ts';
import type { DroughtWork } from '../droughts/open.ts';
import type { Ledgers } from '../ledger/ledgers.ts';
import type { Reporting } from '../report/open.ts';
import { admissionsOf } from '../settings.ts';
import type { Admissions } from '../webhook/open.ts';
import { Changes } from './changes.ts';
import { Moves } from './moves.ts';
import { Rebalancer } from './rebalancer.ts';

export interface RebalanceNeeds {
  readonly settings: () => RebalanceSettings;
  readonly policyOf: (workload: ObservedWorkload) => PolicyReading;
  readonly attention: Attention;
  readonly admissions: Admissions;
  readonly ledgers: Ledgers;
  readonly drought: DroughtWork | undefined;
  readonly reporting: Reporting;
}

export interface Rebalancing {
  readonly rebalancer: Rebalancer;
  /** What begins with leading. */
  readonly duties: readonly (() => () => void | Promise<void>)[];
}

export function openRebalancing(kernel: Kernel, needs: RebalanceNeeds): Rebalancing {
  const { cluster, client, rooms, placeholders, mayWrite, isReadOnly, workers, logger } = kernel;
  const { register, holds, executor } = kernel.disruption;
  const { settings, policyOf, attention, admissions, ledgers, drought, reporting } = needs;
  const { bypass, sharedDefaults } = admissions;
  const { narrator, moveMetric } = reporting;
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
    workers: workers('annotate', ANNOTATED_AT_ONCE),
    cluster,
    refusals: refusedAnnotations,
    metrics: moveMetric,
    logger,
    mayActOn: (workload) => mayWrite() && !isReadOnly() && cluster.isStillManaged(workload),
    lookAgain: (subject, afterMs) => attention.lookAgain(subject, afterMs),
    pause: (ms) => delay(ms),
    now: wallMs,
  });
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
  return { rebalancer, duties: [() => changes.follow(), () => annotator.lead()] };
}
