import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { enabledLabel, type Placement, policyKeys } from '@spotalis/core';
import type { Ledger, ReplicaCount } from '@spotalis/ledger';
import { createLogger, type LogLevel, Metrics, webhookMetrics } from '@spotalis/runtime';
import type { Express } from 'express';
import { Chain } from '../admission/chain.ts';
import { AdmissionHandler } from '../admission/handler.ts';
import { AdmissionReport } from '../report/admissions.ts';
import { admissionMetrics } from '../report/metrics.ts';
import { admissionsApp } from '../serve/admissions.ts';
import { Reserver, type ReserverOptions } from '../steps/distribution/reserver.ts';
import { DistributionStep } from '../steps/distribution/step.ts';
import type { OptInRecord } from '../workload/record.ts';
import { Workloads } from '../workload/workloads.ts';
import { rehearsedUids, rehearsedNames } from './review.ts';

export interface RehearsalServiceOptions {
  /** Its own ledger: not measured, and closed with this service. */
  readonly ledger: Pick<Ledger, 'decide' | 'isPoolOpen' | 'health' | 'close'>;
  readonly placement: Placement;
  readonly decisionTimeoutMs: number;
  readonly logging: { readonly level: LogLevel; readonly format: 'json' | 'text' };
  readonly now: () => number;
}

export interface RehearsalService {
  readonly app: Express;
  readonly close: () => Promise<void>;
}

/** A ledger that takes longer to connect is rehearsed as one that is away. */
const CONNECTED_MS = 1_000;
const LOOK_EVERY_MS = 10;

/** So many that the ledger never asks for the ReplicaSet. */
const replicas: ReplicaCount = { replicas: 1_000_000, resourceVersion: '1' };

/**
 * Every part of an admission, for a Deployment that does not exist: its records are made up, its log lines and metrics
 * are dropped, and the ledger is asked in a dry run.
 */
export async function openRehearsalService(options: RehearsalServiceOptions): Promise<RehearsalService> {
  const { ledger } = options;
  for (let waitedMs = 0; ledger.health().mode === 'connecting' && waitedMs < CONNECTED_MS; ) {
    await delay(LOOK_EVERY_MS);
    waitedMs += LOOK_EVERY_MS;
  }
  return { app: appOf(options), close: () => ledger.close() };
}

function appOf({ ledger, placement, decisionTimeoutMs, logging, now }: RehearsalServiceOptions): Express {
  const logger = createLogger({ service: 'rehearsal', ...logging, stream: nothingWritten() });
  const metrics = new Metrics();
  const workloads = new Workloads({
    namespaces: only(record(rehearsedNames.namespace, 'rehearsed-namespace')),
    deployments: only(record(rehearsedNames.deployment, rehearsedUids.deployment)),
    statefulSets: only(undefined),
    owners: {
      of: async () => ({
        kind: 'deployment',
        deployment: { uid: rehearsedUids.deployment, name: rehearsedNames.deployment },
        replicas,
      }),
      again: async () => ({ kind: 'missing' }),
    },
    scope: { namespaces: [], namespaceSelector: {}, excludedNamespaces: [] },
    defaults: () => noDefaults,
  });
  const reserver = new Reserver({
    ledger: dryRunsOf(ledger),
    reads: {
      replicaSet: async () => undefined,
      pods: async () => ({ resourceVersion: replicas.resourceVersion, pods: [] }),
    },
    now,
    lane: { index: 0, of: 1 },
    random: () => 0,
    observer: { list: nothing, replicaSetRead: nothing },
  });
  const distribution = new DistributionStep({
    reserver,
    ledger: { steer: async () => ({ kind: 'unsteered' }) },
    placement,
    hasCapacity: () => true,
  });
  const handler = new AdmissionHandler({
    workloads,
    chain: new Chain([distribution]),
    readOnly: () => false,
  });
  return admissionsApp({
    handler,
    decisionTimeoutMs,
    report: new AdmissionReport({ metrics: admissionMetrics(metrics), logger }),
    requests: webhookMetrics(metrics).observer('rehearsal'),
    logger,
    now,
  });
}

/** The ledger answers a verified question at once, and a dry run leaves nothing behind. */
function dryRunsOf(ledger: RehearsalServiceOptions['ledger']): ReserverOptions['ledger'] {
  return {
    decide: (request) =>
      ledger.decide({ ...request, knowledge: { kind: 'verified', replicas }, dryRun: true }),
    isPoolOpen: (pool) => ledger.isPoolOpen(pool),
    announce: async () => undefined,
    cancel: async () => undefined,
    merge: async () => undefined,
  };
}

const noDefaults = {};
const nothing = (): void => undefined;

const only = (found: OptInRecord | undefined) => ({ find: async () => found, mirrors: () => true });

function record(name: string, uid: string): OptInRecord {
  return {
    metadata: { name, uid, resourceVersion: replicas.resourceVersion },
    labels: { [enabledLabel]: 'true' },
    annotations: { [policyKeys.spotPercentage]: '70', [policyKeys.minOnDemand]: '1' },
    firstOrdinal: 0,
  };
}

function nothingWritten(): Writable {
  return new Writable({
    write(_chunk, _encoding, done) {
      done();
    },
  });
}
