import { type CapacityType, isCapacityType } from '../capacity/type.ts';
import { type Annotations, type Labels, placeholderKeys } from '../policy/keys.ts';

/** What a placeholder says of itself: all that a new leader has to go by. */
export interface PlaceholderMark {
  readonly workloadUid: string;
  readonly type: CapacityType;
  /** As `shapeText` has it. */
  readonly shape: string;
}

/** Null: the pod is no placeholder. */
export function readPlaceholderMark(labels: Labels, annotations: Annotations): PlaceholderMark | null {
  const workloadUid = labels[placeholderKeys.workload];
  const type = labels[placeholderKeys.capacityType];
  if (workloadUid === undefined || !isCapacityType(type)) return null;
  return { workloadUid, type, shape: annotations[placeholderKeys.shape] ?? '' };
}

/**
 * Below 0, so that every other pod preempts a placeholder and a placeholder preempts none; lower ones than this are
 * not looked at by cluster-autoscaler (--expendable-pods-priority-cutoff).
 */
export const placeholderPriority = -10;
