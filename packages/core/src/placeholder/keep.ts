import type { CapacityType } from '../capacity/type.ts';
import { wantsMovesTo } from '../rebalance/standing.ts';
import type { RebalanceReason, RebalanceTrace } from '../rebalance/verdict.ts';

/** These pass by themselves, and then the move goes on; or the placeholder's own time ends. */
const passing: ReadonlySet<RebalanceReason> = new Set([
  'NodeDiffers',
  'CostOrder',
  'LedgerUnreachable',
  'WebhookNotServing',
  'ReturnTried',
  'ReturnGoesOn',
  'ReturnUnderWay',
  'MoveInFlight',
  'Cooldown',
  'Settling',
  'PodsMissing',
  'LedgerDiffers',
  'OthersNotReady',
  'NotAvailable',
  'PdbBehind',
  'EvictionRefused',
  'EvictionForbidden',
  'EvictionFailed',
  'AnnotationRefused',
  'ReplacementsUnseen',
  'WorkloadBusy',
  'BudgetSpent',
  'NoCapacity',
]);

/** Whether a placeholder of the type, if there is one, is still good for the next move, though none is wanted anew. */
export function keepsPlaceholder({ standing, verdict, reason }: RebalanceTrace, type: CapacityType): boolean {
  if (standing === null || !wantsMovesTo(standing, type)) return false;
  return verdict.kind === 'move' || verdict.kind === 'prove' || passing.has(reason);
}
