import type { PolicyNumbers } from '../distribution/target.ts';
import { type Annotations, podKeys } from '../policy/keys.ts';
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
