import {
  type NodeRequirement,
  type NodeSelectorTerm,
  type PodSpecView,
  requiredTerms,
  selectsNothing,
  type Toleration,
} from './pod-spec.ts';
import type { TypePlacement } from '../capacity/placement.ts';
import { meets } from '../policy/selector.ts';
import type { NodeView, Taint } from './node.ts';

/** The scheduler compares these two as integers; what is none does not match. */
function compares(value: string | undefined, operator: 'Gt' | 'Lt', bound: string | undefined): boolean {
  const isInteger = (text: string | undefined): text is string =>
    text !== undefined && /^[-+]?\d+$/.test(text);
  if (!isInteger(value) || !isInteger(bound)) return false;
  return operator === 'Gt' ? Number(value) > Number(bound) : Number(value) < Number(bound);
}

function meetsRequirement(value: string | undefined, { operator, values }: NodeRequirement): boolean {
  if (operator === 'Gt' || operator === 'Lt') return compares(value, operator, values?.[0]);
  return meets(value, operator, values ?? []);
}

function matchesTerm(node: NodeView, term: NodeSelectorTerm): boolean {
  if (selectsNothing(term)) return false;
  return (
    (term.matchExpressions ?? []).every((one) => meetsRequirement(node.labels[one.key], one)) &&
    (term.matchFields ?? []).every((one) =>
      meetsRequirement(one.key === 'metadata.name' ? node.name : undefined, one),
    )
  );
}

/** Whether a node meets a required node affinity; one without terms asks for nothing. */
export function matchesTerms(node: NodeView, terms: readonly NodeSelectorTerm[]): boolean {
  return terms.length === 0 || terms.some((term) => matchesTerm(node, term));
}

/**
 * Whether the node meets selector and required node affinity of a pod of the template, with what admission writes
 * over and beside them for the target type.
 */
export function matchesPlacement(node: NodeView, spec: PodSpecView, target: TypePlacement): boolean {
  const { selector, overriddenKey, alternatives } = target;
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) {
    if (key !== overriddenKey && node.labels[key] !== value) return false;
  }
  if (selector !== null && node.labels[selector.key] !== selector.value) return false;
  return (
    matchesTerms(node, requiredTerms(spec)) &&
    matchesTerms(
      node,
      alternatives.map((matchExpressions) => ({ matchExpressions })),
    )
  );
}

function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (operator === 'Exists') return !key || key === taint.key;
  return key === taint.key && (value ?? '') === (taint.value ?? '');
}

/** Whether no taint keeps a pod with these tolerations from being scheduled. */
export function toleratesAll(tolerations: readonly Toleration[], taints: readonly Taint[]): boolean {
  return taints.every(
    (taint) => taint.effect === 'PreferNoSchedule' || tolerations.some((one) => tolerates(one, taint)),
  );
}
