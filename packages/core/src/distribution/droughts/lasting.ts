import { type DecidedFor, held } from '../moves/verdict.ts';
import { isStuck, type Wait, type WaitingPod } from './waiting.ts';

/** How many pods wait, by what they wait for. */
export type WaitCounts = Readonly<Partial<Record<Wait, number>>>;

/** In each burst on an autoscaled cluster pods wait for a node that is being made. */
const LASTING_MS = 60_000;

/** Those that have waited for so long that somebody has to hear of it. */
export function lastingWaits(waiting: readonly WaitingPod[], nowMs: number): WaitCounts {
  const counts: Partial<Record<Wait, number>> = {};
  for (const { wait, sinceMs } of waiting) {
    if (sinceMs + LASTING_MS <= nowMs) counts[wait] = (counts[wait] ?? 0) + 1;
  }
  return counts;
}

/** When the next pod will have waited for so long; null: none will. */
export function nextLastingMs(waiting: readonly WaitingPod[], nowMs: number): number | null {
  const dueMs = waiting.map(({ sinceMs }) => sinceMs + LASTING_MS).filter((atMs) => atMs > nowMs);
  return dueMs.length === 0 ? null : Math.min(...dueMs);
}

/** By count all is well, but pods have no node for a reason that no substitute would help. */
export function unscheduled(
  waiting: readonly WaitingPod[],
  nowMs: number,
): DecidedFor<'PodsUnscheduled'> | null {
  const waits = lastingWaits(
    waiting.filter((one) => !isStuck(one)),
    nowMs,
  );
  return Object.keys(waits).length === 0 ? null : held('PodsUnscheduled', { waits });
}
