import type { CapacityType } from '../capacity/type.ts';

/** Failed moves double the cooldown up to this, unless the configuration asks for more from the start. */
const LONGEST_COOLDOWN_MS = 30 * 60_000;
/** Enough to get from a millisecond to the longest. */
const MOST_DOUBLINGS = 21;

/** How a move ended: its replacement is Ready on the intended type, or it is not and will not be. */
export type MoveOutcome = 'succeeded' | 'failed';

export interface EndedMove {
  readonly from: CapacityType;
  readonly to: CapacityType;
  readonly outcome: MoveOutcome;
  /** What somebody changed of its replacement after admission. */
  readonly override: string | null;
}

/** The end of the workload's last move. Written with `afterMove`. */
export interface MoveHistory {
  readonly from: CapacityType;
  readonly to: CapacityType;
  /** When its replacement was Ready, or the move failed. */
  readonly endedAtMs: number;
  /** Failed moves since the last that succeeded. */
  readonly failures: number;
  /** What somebody changed of the last replacement after its admission, if that sent it elsewhere; null otherwise. */
  readonly override: string | null;
}

/** What is to be remembered of a move that has just ended. */
export function afterMove(
  history: MoveHistory | null,
  { from, to, outcome, override }: EndedMove,
  nowMs: number,
): MoveHistory {
  if (outcome === 'succeeded') return { from, to, endedAtMs: nowMs, failures: 0, override: null };
  return { from, to, endedAtMs: nowMs, failures: (history?.failures ?? 0) + 1, override };
}

/**
 * When the next move of the workload may begin. In either direction: a move back within the cooldown of the move
 * there is only the most harmful case.
 */
export function cooldownEnd({ endedAtMs, failures }: MoveHistory, cooldownMs: number): number {
  const doubled = cooldownMs * 2 ** Math.min(failures, MOST_DOUBLINGS);
  return endedAtMs + Math.max(cooldownMs, Math.min(doubled, LONGEST_COOLDOWN_MS));
}
