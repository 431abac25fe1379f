import type { BudgetUse, RebalanceSettings } from './snapshot.ts';
import { type DecidedFor, held } from './verdict.ts';

/** Another workload's move may end at any time, and nothing of this workload changes when it does. */
const RETRY_MS = 5_000;
const MINUTE_MS = 60_000;

type Limits = Pick<RebalanceSettings, 'maxInFlight' | 'maxMovesPerMinute'>;

/** The first budget that has nothing left for one more move; null when all have. */
export function spentBudget(use: BudgetUse, limits: Limits, nowMs: number): DecidedFor<'BudgetSpent'> | null {
  for (const budget of ['cluster', 'namespace', 'workload'] as const) {
    const limit = limits.maxInFlight[budget];
    if (use[budget] >= limit)
      return held('BudgetSpent', { budget, used: use[budget], limit }, nowMs + RETRY_MS);
  }
  const recent = use.begunAtMs.filter((begunAtMs) => begunAtMs > nowMs - MINUTE_MS);
  const limit = limits.maxMovesPerMinute;
  if (recent.length < limit) return null;
  // One is free when only `limit - 1` of them are left within the minute.
  const ending = recent.toSorted((a, b) => a - b)[recent.length - limit] ?? nowMs;
  return held('BudgetSpent', { budget: 'minute', used: recent.length, limit }, ending + MINUTE_MS);
}

/** Whether one more pod of this node may be moved. A pod without a node burdens none. */
export function nodeHasBudget(use: BudgetUse, limits: Limits, node: string | null): boolean {
  return node === null || (use.nodes.get(node) ?? 0) < limits.maxInFlight.node;
}

export function spentNodeBudget(
  use: BudgetUse,
  limits: Limits,
  node: string | null,
  nowMs: number,
): DecidedFor<'BudgetSpent'> {
  const used = node === null ? 0 : (use.nodes.get(node) ?? 0);
  return held('BudgetSpent', { budget: 'node', used, limit: limits.maxInFlight.node }, nowMs + RETRY_MS);
}
