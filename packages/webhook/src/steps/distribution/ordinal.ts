import { type CapacityType, ordinalType, type PolicyNumbers } from '@spotalis/core';
import type { Ledger } from '@spotalis/ledger';
import type { Deadline } from '../../admission/deadline.ts';

export interface OrdinalRequest {
  readonly workloadUid: string;
  readonly ordinal: number;
  readonly firstOrdinal: number;
  readonly token: string;
  readonly policy: PolicyNumbers;
  readonly allowed: CapacityType | 'both';
  readonly pool: string | undefined;
  readonly dryRun: boolean;
}

export type OrdinalSteering =
  | {
      readonly kind: 'steered';
      readonly type: CapacityType;
      readonly substitute: boolean;
      readonly alone: boolean;
    }
  | { readonly kind: 'unsteered' };

/** A StatefulSet's pod has an ordinal, which decides alone unless there is a drought or a bound volume. */
export async function steerOrdinal(
  ledger: Pick<Ledger, 'steer'>,
  request: OrdinalRequest,
  deadline: Deadline,
): Promise<OrdinalSteering> {
  const { workloadUid, ordinal, firstOrdinal, token, policy, allowed, pool, dryRun } = request;
  if (allowed !== 'both') {
    return { kind: 'steered', type: allowed, substitute: false, alone: false };
  }
  const wanted = ordinalType(policy, ordinal, firstOrdinal);
  try {
    const steering = await deadline.within(
      ledger.steer({ workloadUid, ordinal, token, wanted, dryRun, ...(pool === undefined ? {} : { pool }) }),
    );
    return steering.kind === 'steered' ? { ...steering, alone: false } : steering;
  } catch (error) {
    if (deadline.abandoned) throw error;
    // The ordinal is right unless there is a drought or a bound volume, and neither is known.
    return { kind: 'steered', type: wanted, substitute: false, alone: true };
  }
}

/** From the label that the StatefulSet controller sets, else from the end of the name. */
export function ordinalOf(name: string, labels: Readonly<Record<string, string>>): number | undefined {
  const text = labels['apps.kubernetes.io/pod-index'] ?? /-(\d+)$/.exec(name)?.[1];
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
