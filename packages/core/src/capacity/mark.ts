import { deletionCost } from '../policy/slot.ts';
import type { PolicyNumbers } from '../policy/target.ts';
import { type Annotations, foreignKeys, podKeys } from '../policy/keys.ts';
import { parsePolicyMark } from '../policy/mark.ts';
import { type CapacityType, isCapacityType } from './type.ts';

/** What an admission wrote on a pod. Each part is null where it is missing or was not written by us. */
export interface PodMark {
  readonly token: string | null;
  readonly type: CapacityType | null;
  readonly rank: number | null;
  readonly numbers: PolicyNumbers | null;
  readonly substitute: boolean;
}

export function readPodMark(annotations: Annotations): PodMark {
  const type = annotations[podKeys.capacityType];
  const rank = annotations[podKeys.rank];
  const policy = annotations[podKeys.policy];
  return {
    token: annotations[podKeys.reservation] || null,
    type: isCapacityType(type) ? type : null,
    rank: rank !== undefined && /^\d{1,7}$/.test(rank) ? Number(rank) : null,
    numbers: policy === undefined ? null : parsePolicyMark(policy),
    substitute: annotations[podKeys.substitute] === 'true',
  };
}

/** A cost that follows from the marks beside it was written by us, on a pod that a template was copied from. */
export function isOwnCost(cost: string, annotations: Annotations): boolean {
  const { type, rank, numbers } = readPodMark(annotations);
  return (
    type !== null && rank !== null && numbers !== null && cost === String(deletionCost(numbers, type, rank))
  );
}

/** The user's own pod-deletion-cost in a template. Admission and renumbering leave it alone. */
export function hasForeignCost(template: Annotations): boolean {
  const cost = template[foreignKeys.podDeletionCost];
  return cost !== undefined && !isOwnCost(cost, template);
}
