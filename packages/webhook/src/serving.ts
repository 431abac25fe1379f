import type { Placement, ProductSettings } from '@spotalis/core';
import { openLedger, redisSettings } from '@spotalis/ledger';
import {
  type CertificateSource,
  type Component,
  HttpServer,
  type LoadedConfiguration,
  type Logger,
  type Metrics,
  webhookMetrics,
} from '@spotalis/runtime';
import type { AdmissionHandler } from './admission/handler.ts';
import { Rehearsal } from './rehearsal/rehearsal.ts';
import { openRehearsalService } from './rehearsal/service.ts';
import { AdmissionReport } from './report/admissions.ts';
import type { AdmissionMetrics } from './report/metrics.ts';
import { admissionsApp } from './serve/admissions.ts';
import type { DistributionRecord } from './steps/distribution/record.ts';

/** No admission takes longer than this, and the API server does not wait longer for one. */
const DRAIN_DEADLINE_MS = 10_000;

export interface ServingParts {
  readonly values: LoadedConfiguration<ProductSettings>['values'];
  readonly placement: Placement;
  readonly handler: AdmissionHandler<DistributionRecord>;
  /** Whether any module decides at admission. */
  readonly rehearses: boolean;
  readonly certificates: CertificateSource;
  readonly admitted: AdmissionMetrics;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
}

export interface Serving {
  readonly port: () => number;
  /** In the order of their start. */
  readonly components: readonly Component[];
}

/** Serves admissions over HTTPS, once some are rehearsed. */
export function openServing(parts: ServingParts): Serving {
  const { values, placement, handler, rehearses, certificates, admitted, metrics, logger, now } = parts;
  const { port, drainGrace, decisionTimeout: decisionTimeoutMs, rehearsal: admissions } = values.webhook;
  const server = new HttpServer({
    name: 'admissions',
    port,
    handler: admissionsApp({
      handler,
      decisionTimeoutMs,
      report: new AdmissionReport({ metrics: admitted, logger }),
      requests: webhookMetrics(metrics).observer('pods'),
      logger,
      now,
    }),
    certificates,
    drain: { graceMs: drainGrace, deadlineMs: DRAIN_DEADLINE_MS },
    logger,
  });
  const rehearsal = new Rehearsal({
    admissions,
    openService: () =>
      openRehearsalService({
        ledger: openLedger({ redis: redisSettings(values.redis), now, wallMs: Date.now }),
        placement,
        decisionTimeoutMs,
        logging: values.logging,
        now,
      }),
    certificates,
    logger,
    now,
  });
  return { port: () => server.port, components: rehearses ? [rehearsal, server] : [server] };
}
