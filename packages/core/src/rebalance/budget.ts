import type { BudgetUse, RebalanceSettings } from './snapshot.ts';
import { type DecidedFor, held } from './verdict.ts';

/** What is free again wakes whoever waits for it; this is for what nobody hears of. */
export const BUDGET_RETRY_MS = 30_000;

type Limits = Pick<RebalanceSettings, 'maxInFlight'>;

/**
 * Whether one more pod of this node may be moved. A pod without a node burdens none. `arbitrate` holds every budget;
 * this only chooses among the pods of a workload one that it may grant.
 */
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
  return held(
    'BudgetSpent',
    { budget: 'node', used, limit: limits.maxInFlight.node },
    nowMs + BUDGET_RETRY_MS,
  );
}
