import { type RebalanceReason, reasonTraits, type RebalanceTrace } from '@spotalis/core';

/** A workload's drift from its first look on. */
export interface Drift {
  readonly sinceMs: number;
  /** For how long its repair had been due at the last look. */
  readonly dueMs: number;
  readonly lookedMs: number;
  readonly isPostponed: boolean;
}

/** After another look, that found this reason. */
export function followDrift(
  drift: Drift | undefined,
  reason: RebalanceReason,
  { standing, drought }: RebalanceTrace,
  nowMs: number,
): Drift {
  // Whatever else holds it just then: what a drought leaves has a gauge and an alert of its own.
  const isDry = (standing?.drift ?? 0) < 0 && drought !== null && drought !== 'closed';
  return {
    sinceMs: drift?.sinceMs ?? nowMs,
    dueMs: dueMsOf(drift, nowMs),
    lookedMs: nowMs,
    isPostponed: isDry || reasonTraits[reason].postpones === true,
  };
}

/** For how long a repair has been due, without the time for which it was postponed. */
export function dueMsOf(drift: Drift | undefined, nowMs: number): number {
  if (drift === undefined) return 0;
  return drift.dueMs + (drift.isPostponed ? 0 : Math.max(0, nowMs - drift.lookedMs));
}
