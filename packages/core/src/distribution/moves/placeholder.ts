import type { CapacityType } from '../../capacity/type.ts';
import { reasonTraits } from './reason.ts';
import { wantsMovesTo } from './standing.ts';
import type { RebalanceTrace } from './verdict.ts';

/** Whether a placeholder of the type, if there is one, is still good for the next move, though none is wanted anew. */
export function keepsPlaceholder({ standing, verdict, reason }: RebalanceTrace, type: CapacityType): boolean {
  if (standing === null || !wantsMovesTo(standing, type)) return false;
  return verdict.kind === 'move' || verdict.kind === 'prove' || reasonTraits[reason].passes === true;
}
