import type { Labels } from '../policy/keys.ts';
import { managed, outOfScope } from '../policy/managed.ts';
import { selects } from '../policy/selector.ts';
import type { Scope } from '../policy/settings.ts';
import type { OptimizationSpec } from './optimization-policy.ts';

export interface Selectable {
  readonly kind: 'Deployment' | 'StatefulSet' | 'DaemonSet';
  readonly namespace: string;
  readonly namespaceLabels: Labels;
  readonly workloadLabels: Labels;
}

export interface Selector {
  readonly namespace: string;
  readonly name: string;
  readonly spec: Pick<OptimizationSpec, 'mode' | 'weight' | 'selector'>;
}

/** Whether the scope of the configuration has the workload. The policy is the opt-in, so no label is needed. */
export function isInScope({ namespace, namespaceLabels, workloadLabels }: Selectable, scope: Scope): boolean {
  const answer = managed({ namespace, namespaceLabels, workloadLabels }, scope);
  return answer.managed || outOfScope[answer.reason] === null;
}

/** Whether all parts of the selector match. What is denied or excluded is not selected, whatever else is said. */
export function isSelected(selector: OptimizationSpec['selector'], workload: Selectable): boolean {
  const { namespaceSelector, workloadSelector, namespaces, workloadTypes } = selector;
  const { kind, namespace, namespaceLabels, workloadLabels } = workload;
  const { allow = [], deny = [] } = namespaces ?? {};
  const { include = [], exclude = [] } = workloadTypes ?? {};
  if (deny.includes(namespace) || exclude.includes(kind)) return false;
  if (allow.length > 0 && !allow.includes(namespace)) return false;
  if (include.length > 0 && !include.includes(kind)) return false;
  return (
    (namespaceSelector === undefined || selects(namespaceSelector, namespaceLabels)) &&
    (workloadSelector === undefined || selects(workloadSelector, workloadLabels))
  );
}

export interface Selection<P extends Selector> {
  /** Null: none that is not Disabled, or none at all. */
  readonly acting: P | null;
  readonly others: readonly {
    readonly policy: P;
    readonly reason: 'ConflictingPolicy' | 'ForeignNamespace' | 'Disabled';
  }[];
}

const order = (one: Selector, other: Selector): number =>
  other.spec.weight - one.spec.weight ||
  compare(one.namespace, other.namespace) ||
  compare(one.name, other.name);

const compare = (one: string, other: string): number => Number(one > other) - Number(one < other);

/**
 * Which of the policies acts on the workload. One outside the controller's namespace `home` selects workloads of its own
 * namespace only, so that a tenant cannot size the pods of another. A Disabled one leaves the workload to others.
 */
export function policyFor<P extends Selector>(
  policies: readonly P[],
  workload: Selectable,
  home: string,
): Selection<P> {
  const selecting = policies.filter(({ spec }) => isSelected(spec.selector, workload)).toSorted(order);
  const isForeign = ({ namespace }: P) => namespace !== home && namespace !== workload.namespace;
  const acting = selecting.find((each) => !isForeign(each) && each.spec.mode !== 'Disabled') ?? null;
  const others = selecting
    .filter((each) => each !== acting)
    .map((policy) => {
      const rest = policy.spec.mode === 'Disabled' ? 'Disabled' : 'ConflictingPolicy';
      return { policy, reason: isForeign(policy) ? 'ForeignNamespace' : rest } as const;
    });
  return { acting, others };
}
