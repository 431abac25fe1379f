import {
  namespaceProblems,
  nextCommonOpening,
  type ObservedWorkload,
  type PolicyProblem,
  type PolicyProblemCode,
} from '@spotalis/core';
import type { Check, Finding, Severity } from '../finding.ts';
import { nameOf } from './object.ts';

const severities: Readonly<Partial<Record<PolicyProblemCode, Severity>>> = { InvalidNumber: 'error' };

const reasons: Readonly<Partial<Record<PolicyProblemCode, string>>> = {
  InvalidNumber: 'to be safe all new pods go to on-demand, and none is moved',
  UnknownKey: 'it says nothing to anybody',
  NoPolicy: 'pods are neither steered nor moved, although both labels are there',
};

function told({ code, message, nearestKey, key }: PolicyProblem, object: string, command: string): Finding {
  return {
    id:
      code === 'NoPolicy'
        ? 'policy-missing'
        : code === 'UnknownKey'
          ? 'policy-key-unknown'
          : 'policy-invalid',
    severity: severities[code] ?? 'warning',
    object,
    what: message,
    why: reasons[code] ?? 'new pods go by the numbers, and none is moved until it is mended',
    remedy:
      code === 'UnknownKey'
        ? `${command} ${key}-${nearestKey === null ? '' : ` ${nearestKey}=...`}`
        : `${command} --overwrite ${key}=...   (docs/annotations.md)`,
  };
}

const annotate = ({ workloadKind, metadata }: ObservedWorkload): string =>
  `kubectl -n ${metadata.namespace ?? ''} annotate ${workloadKind.toLowerCase()}/${metadata.name}`;

export const havePolicies: Check = ({ survey }) => [
  ...survey.workloads
    .filter((workload) => survey.managedOf(workload).managed)
    .flatMap((workload) =>
      survey
        .policyOf(workload)
        // Of others it is told where it is.
        .problems.filter(({ where }) => where === 'workload')
        .map((problem) => told(problem, nameOf(workload), annotate(workload))),
    ),
  ...survey.objects.namespaces
    .filter(({ metadata }) => survey.isNamespaceLabelled(metadata.name))
    .flatMap(({ metadata: { name }, annotations }) =>
      namespaceProblems(annotations).map((problem) =>
        told(problem, `Namespace ${name}`, `kubectl annotate namespace/${name}`),
      ),
    ),
];

/** A workload's own window and that of everybody have to be open at one time. */
export const windowsMeet: Check = ({ survey, nowMs }) => {
  const common = survey.settings.rebalance.window;
  if (common === null) return [];
  return survey.workloads.flatMap((workload): Finding[] => {
    if (!survey.managedOf(workload).managed) return [];
    const policy = survey.policyOf(workload);
    if (policy.kind !== 'valid' || policy.window === null) return [];
    if (nextCommonOpening([policy.window, common], nowMs) !== null) return [];
    return [
      {
        id: 'window-never-open',
        severity: 'warning',
        object: nameOf(workload),
        what: 'its disruption window and that of the configuration (rebalance.schedule) are not once open together within a year',
        why: 'none of its pods is ever moved',
        remedy: 'let them overlap: docs/annotations.md',
      },
    ];
  });
};
