import type { Logger } from '@spotalis/runtime';
import type { Outcome } from '../admission/outcome.ts';

/** One line for each decision that changed something, or should have and could not. */
export function logDecision(logger: Logger, requestId: string, outcome: Outcome): void {
  if (outcome.result === 'left-alone') {
    logger.debug('left alone', { requestId, reason: outcome.reason });
    return;
  }
  if (outcome.result === 'unsteered') {
    const { reason, warnings, error } = outcome;
    logger.warn('not steered', { requestId, reason, warnings, ...(error === undefined ? {} : { error }) });
    return;
  }
  const { type, reason, workload, revision, numbers, counts, substitute, dryRun, readOnly, token } = outcome;
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
