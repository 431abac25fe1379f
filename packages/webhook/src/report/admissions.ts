import type { Logger } from '@spotalis/runtime';
import type { AdmissionResult } from '../admission/handler.ts';
import type { Skipped } from '../admission/record.ts';
import type { DistributionRecord } from '../steps/distribution/record.ts';
import type { AdmissionMetrics } from './metrics.ts';

type Result = AdmissionResult<DistributionRecord>;

export interface AdmissionReportOptions {
  readonly metrics: AdmissionMetrics;
  readonly logger: Logger;
}

/** Counts and logs what became of an admission. */
export class AdmissionReport {
  readonly #metrics: AdmissionMetrics;
  readonly #logger: Logger;

  constructor({ metrics, logger }: AdmissionReportOptions) {
    this.#metrics = metrics;
    this.#logger = logger;
  }

  answered(requestId: string, result: Result, durationMs: number): void {
    for (const record of result.records) {
      this.#metrics.admitted(record, !result.dryRun && !result.readOnly, durationMs);
      logRecord(this.#logger, requestId, record, result);
    }
    if (result.leftOut.length > 0) this.#metrics.failed(durationMs);
    for (const { step, error } of result.leftOut) {
      this.#logger.error('a step of the admission failed', { requestId, step, error });
    }
  }

  failed(requestId: string, error: unknown, durationMs: number): void {
    this.#metrics.failed(durationMs);
    this.#logger.error('admission failed', { requestId, error });
  }
}

/** One line for each decision that changed something, or that could not although it should. */
function logRecord(
  logger: Logger,
  requestId: string,
  record: DistributionRecord | Skipped,
  { dryRun, readOnly }: Result,
): void {
  if (record.result === 'left-alone') {
    logger.debug('left alone', { requestId, reason: record.reason });
    return;
  }
  if (record.result === 'unsteered') {
    const { reason, warnings, error } = record;
    logger.warn('not steered', { requestId, reason, warnings, ...(error === undefined ? {} : { error }) });
    return;
  }
  const { type, reason, workload, revision, numbers, counts, substitute, token } = record;
  logger.info(readOnly ? 'would be placed' : 'placed', {
    requestId,
    workload: `${workload.kind.toLowerCase()}/${workload.namespace}/${workload.name}`,
    revision,
    decision: type,
    reason,
    policy: `${numbers.spotPercentage}/${numbers.minOnDemand}`,
    ...(counts === undefined ? {} : { spot: counts.spot, onDemand: counts.onDemand }),
    ...(substitute ? { substitute } : {}),
    ...(token === undefined || token === requestId ? {} : { reservation: token }),
    ...(dryRun ? { dryRun } : {}),
    ...(readOnly ? { readOnly } : {}),
  });
}
