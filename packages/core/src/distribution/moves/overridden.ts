import type { Member } from '../../cluster/workload-pod.ts';
import type { RebalanceSnapshot } from './snapshot.ts';
import { type DecidedFor, held } from './verdict.ts';

/** Each of these moves cost a pod for nothing; one or two may be chance, or a webhook that has just been removed. */
const MOST_IN_VAIN = 3;

/**
 * Somebody sends replacements elsewhere after our admission, so that every further eviction would be in vain. That
 * ends when a pod came since then and stayed where it was sent: a rollout makes some, a scale-up, or a pod that
 * crashed.
 */
export function overridden(
  { history }: RebalanceSnapshot,
  members: readonly Member[],
): DecidedFor<'PlacementOverridden'> | null {
  if (history === null || history.override === null || history.failures < MOST_IN_VAIN) return null;
  const { to, endedAtMs, failures, override } = history;
  const isOver = members.some(
    ({ pod, type }) => type === to && pod.nodeName !== null && pod.createdAtMs > endedAtMs,
  );
  return isOver ? null : held('PlacementOverridden', { failures, to, override });
}
