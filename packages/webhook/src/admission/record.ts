import type { GateReason, UnmanagedReason } from '@spotalis/core';

/** There is nothing to do. */
export interface LeftAlone<Reason extends string> {
  readonly result: 'left-alone';
  readonly reason: Reason;
}

/** There is something to do, and it cannot be done. */
export interface Unsteered<Reason extends string> {
  readonly result: 'unsteered';
  readonly reason: Reason;
  readonly warnings: readonly string[];
  readonly error?: unknown;
}

/** Reasons to ask no step: the pod is of no managed workload, or there is no step to ask. */
export const notManagedReasons = [
  'NotCreate',
  'NotPod',
  'Subresource',
  'NoNamespace',
  'AlreadyBound',
  'BarePod',
  'OtherOwner',
  'NamespaceExcluded',
  'NamespaceNotListed',
  'NamespaceNotSelected',
  'NotLabelled',
  'NamespaceNotLabelled',
  'WorkloadNotLabelled',
  'Unowned',
  'ModulesOff',
] as const satisfies readonly (GateReason | UnmanagedReason | 'Unowned' | 'ModulesOff')[];

/** Reasons to ask no step, though the workload may be managed. */
export const unresolvedReasons = [
  /** The owner was not found in time, so neither was the policy. */
  'OwnerUnknown',
  /** The owner was deleted meanwhile. */
  'OwnerMissing',
  'PodUnreadable',
] as const;

/** Why no step was asked. */
export type Skipped =
  | LeftAlone<(typeof notManagedReasons)[number]>
  | Unsteered<(typeof unresolvedReasons)[number]>;

export function leftAlone<Reason extends string>(reason: Reason): LeftAlone<Reason> {
  return { result: 'left-alone', reason };
}

export function unsteered<Reason extends string>(
  reason: Reason,
  why: string,
  error?: unknown,
): Unsteered<Reason> {
  const warnings = [`spotalis: this pod's capacity type was not chosen: ${why}`];
  return { result: 'unsteered', reason, warnings, ...(error === undefined ? {} : { error }) };
}
