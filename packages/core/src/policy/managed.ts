import { enabledLabel, type Labels } from './keys.ts';
import { selects } from './selector.ts';
import type { Scope } from './settings.ts';

export interface ManagedSubject {
  readonly namespace: string;
  readonly namespaceLabels: Labels;
  readonly workloadLabels: Labels;
}

export const unmanagedReasons = [
  'NamespaceExcluded',
  'NamespaceNotListed',
  'NamespaceNotSelected',
  'NotLabelled',
  'NamespaceNotLabelled',
  'WorkloadNotLabelled',
] as const;

export type UnmanagedReason = (typeof unmanagedReasons)[number];

/** How the scope keeps the namespace out; null: a label is all that is missing. */
export const outOfScope: Readonly<Record<UnmanagedReason, string | null>> = {
  NamespaceExcluded: 'in scope.excludedNamespaces',
  NamespaceNotListed: 'not in scope.namespaces',
  NamespaceNotSelected: 'not selected by scope.namespaceSelector',
  NotLabelled: null,
  NamespaceNotLabelled: null,
  WorkloadNotLabelled: null,
};

export type Managed =
  | { readonly managed: true }
  | { readonly managed: false; readonly reason: UnmanagedReason };

const yes: Managed = { managed: true };
const no = (reason: UnmanagedReason): Managed => ({ managed: false, reason });

/** Exactly "true": "True", "1" or "yes" do not opt in. */
function isEnabled(labels: Labels): boolean {
  return labels[enabledLabel] === 'true';
}

/** Whether anything at all may be done with a workload. Every service asks here and nowhere else. */
export function managed(subject: ManagedSubject, scope: Scope): Managed {
  if (scope.excludedNamespaces.includes(subject.namespace)) return no('NamespaceExcluded');
  if (scope.namespaces.length > 0 && !scope.namespaces.includes(subject.namespace)) {
    return no('NamespaceNotListed');
  }
  if (!selects(scope.namespaceSelector, subject.namespaceLabels)) return no('NamespaceNotSelected');
  const namespaceEnabled = isEnabled(subject.namespaceLabels);
  const workloadEnabled = isEnabled(subject.workloadLabels);
  if (namespaceEnabled && workloadEnabled) return yes;
  if (namespaceEnabled) return no('WorkloadNotLabelled');
  return no(workloadEnabled ? 'NamespaceNotLabelled' : 'NotLabelled');
}
