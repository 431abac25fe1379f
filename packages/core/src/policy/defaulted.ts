import type { PolicyNumbers } from './target.ts';
import type { PolicyReading } from './policy.ts';

/** Whether the workload's split changes with the configuration's `defaults`. */
export const restsOnDefaults = (policy: PolicyReading): boolean =>
  policy.kind === 'valid' && policy.defaulted.length > 0;

/**
 * Whether the webhook that admitted a pod by these numbers has the same `defaults` as the reader of the policy. Null:
 * the pod cannot tell. A webhook without any default leaves the pods of a workload without annotations alone (`admitted`
 * is null). Numbers that annotations set are not compared: every process reads those from the API server.
 */
export function hasSameDefaults(policy: PolicyReading, admitted: PolicyNumbers | null): boolean | null {
  if (policy.kind !== 'valid' || policy.defaulted.length === 0) return null;
  const { numbers, defaulted } = policy;
  if (admitted === null) return defaulted.length === Object.keys(numbers).length ? false : null;
  return defaulted.every((field) => admitted[field] === numbers[field]);
}
