import {
  enabledLabel,
  type ObservedWorkload,
  outOfScope,
  policyKeys,
  type UnmanagedReason,
} from '@spotalis/core';
import type { Check, Finding } from '../finding.ts';
import { nameOf } from './object.ts';

const asks = ({ annotations }: ObservedWorkload): boolean =>
  Object.values(policyKeys).some((key) => annotations[key] !== undefined);

/** Who wants to be managed and is not. */
export const areManaged: Check = ({ survey }) =>
  survey.workloads.flatMap((workload): Finding[] => {
    const answer = survey.managedOf(workload);
    if (answer.managed) return [];
    const told = tell(workload, answer.reason);
    const why =
      'both labels, with exactly this value, opt in: without them pods are neither steered nor moved';
    return told === undefined ? [] : [{ object: nameOf(workload), why, ...told }];
  });

type Told = Pick<Finding, 'id' | 'severity' | 'what' | 'remedy'> & Partial<Pick<Finding, 'why'>>;

function tell(workload: ObservedWorkload, reason: UnmanagedReason): Told | undefined {
  const { metadata, workloadKind, labels } = workload;
  const { name, namespace = '' } = metadata;
  const value = labels[enabledLabel];
  const isLabelled = value === 'true';
  const labelIt = `kubectl -n ${namespace} label --overwrite ${workloadKind.toLowerCase()}/${name} ${enabledLabel}=true`;
  const labelNamespace = `kubectl label --overwrite namespace/${namespace} ${enabledLabel}=true`;
  const outside = outOfScope[reason];
  if (outside !== null) {
    if (!isLabelled) return undefined;
    return {
      id: 'out-of-scope',
      severity: 'warning',
      what: `it is labelled, and namespace ${namespace} is ${outside}`,
      why: 'what is out of scope is neither steered nor moved, whatever its labels say',
      remedy: 'take the label away, or widen the scope: docs/configuration.md',
    };
  }
  if (reason === 'NamespaceNotLabelled') {
    return {
      id: 'namespace-label-missing',
      severity: 'warning',
      what: 'it is labelled, and its namespace is not',
      remedy: labelNamespace,
    };
  }
  if (value !== undefined) {
    return {
      id: 'workload-label-missing',
      severity: 'warning',
      what: `its label ${enabledLabel} is "${value}", not "true"`,
      remedy: labelIt,
    };
  }
  if (!asks(workload)) return undefined;
  if (reason === 'NotLabelled') {
    return {
      id: 'labels-missing',
      severity: 'warning',
      what: 'it carries a policy, and neither it nor its namespace is labelled',
      remedy: `${labelIt} && ${labelNamespace}`,
    };
  }
  return {
    id: 'workload-label-missing',
    // What `disable` leaves behind.
    severity: 'info',
    what: 'it carries a policy, and its namespace is labelled; it is not',
    remedy: labelIt,
  };
}
