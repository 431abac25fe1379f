import {
  type NodeRequirement,
  type NodeSelectorTerm,
  requiredTerms,
  selectsNothing,
  type Toleration,
} from '../cluster/pod-spec.ts';
import type { Labels } from '../policy/keys.ts';
import type { FitQuestion } from '../cluster/fit.ts';
import { matchesPlacement, toleratesAll } from '../cluster/match.ts';
import type { Resources } from '../cluster/resources.ts';
import { antiAffinityTerms, hardConstraints, spreadRules, unprovableConstraint } from '../cluster/spread.ts';
import type { PodAffinityTerm, TemplateView } from '../cluster/workload.ts';

/** Where a pod of a workload could go and how much room it takes there: all that a placeholder has to have of it. */
export interface PlaceholderShape {
  readonly nodeSelector: Labels;
  readonly nodeTerms: readonly NodeSelectorTerm[];
  readonly antiAffinity: readonly PodAffinityTerm[];
  readonly tolerations: readonly Toleration[];
  /** Amounts as `podRequests` has them, without `pods`. */
  readonly requests: Resources;
}

export type ShapeReading =
  | { readonly kind: 'shape'; readonly shape: PlaceholderShape }
  /** What a pod in another namespace cannot stand in for. */
  | { readonly kind: 'notProvable'; readonly constraint: string };

export interface ShapeQuestion extends Omit<FitQuestion, 'room'> {
  readonly namespace: string;
}

/** The shape of one more pod of the template, sent to a type. */
export function shapeOf(question: ShapeQuestion): ShapeReading {
  const { template, to, placement, volumes } = question;
  const constraint = unprovableConstraint(template);
  if (constraint !== null) return { kind: 'notProvable', constraint };
  if (volumes.kind === 'unknown') return { kind: 'notProvable', constraint: 'a volume that cannot be read' };
  const target = placement.byType[to];
  const places = target.alternatives.map((matchExpressions) => ({ matchExpressions }));
  let nodeTerms = both(requiredTerms(template.spec), places);
  for (const terms of volumes.affinities) nodeTerms = both(nodeTerms, terms);
  const spread = spreadRequirements(question);
  if (spread.length > 0) nodeTerms = both(nodeTerms, [{ matchExpressions: spread }]);
  const { pods: _one, ...requests } = template.requests;
  return {
    kind: 'shape',
    shape: {
      nodeSelector: selectorOf(question),
      nodeTerms,
      antiAffinity: antiAffinityTerms(template).map((term) => acrossNamespaces(term, question)),
      tolerations: [...(template.spec.tolerations ?? []), ...target.tolerations],
      requests,
    },
  };
}

/** The same shape gives the same text. */
export function shapeText({ nodeSelector, nodeTerms, ...rest }: PlaceholderShape): string {
  const selector = Object.entries(nodeSelector).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([selector, nodeTerms, rest]);
}

function selectorOf({ template, to, placement }: ShapeQuestion): Labels {
  const { selector, overriddenKey } = placement.byType[to];
  const entries = Object.entries(template.spec.nodeSelector ?? {}).filter(([key]) => key !== overriddenKey);
  return { ...Object.fromEntries(entries), ...(selector === null ? {} : { [selector.key]: selector.value }) };
}

/** Terms that ask for one of the first and one of the second; a list without any asks for nothing. */
function both(
  first: readonly NodeSelectorTerm[],
  second: readonly NodeSelectorTerm[],
): readonly NodeSelectorTerm[] {
  if (second.length === 0) return first;
  if (first.length === 0) return second;
  return first.flatMap((one) => second.map((other) => joined(one, other)));
}

/** A term that selects no node must not select any with something in it. */
function joined(one: NodeSelectorTerm, other: NodeSelectorTerm): NodeSelectorTerm {
  if (selectsNothing(one) || selectsNothing(other)) return {};
  const matchExpressions = [...(one.matchExpressions ?? []), ...(other.matchExpressions ?? [])];
  const matchFields = [...(one.matchFields ?? []), ...(other.matchFields ?? [])];
  return {
    ...(matchExpressions.length > 0 && { matchExpressions }),
    ...(matchFields.length > 0 && { matchFields }),
  };
}

/**
 * The scheduler counts a spread in the pod's own namespace, where none of the workload's pods are. So the domains
 * that are full are ruled out by name; one that is not known yet may come.
 */
function spreadRequirements(question: ShapeQuestion): readonly NodeRequirement[] {
  const { template, to, placement, nodes, staying } = question;
  const constraints = hardConstraints(template);
  if (constraints.length === 0) return [];
  const target = placement.byType[to];
  const tolerations = [...(template.spec.tolerations ?? []), ...target.tolerations];
  const rules = spreadRules({
    template,
    members: staying,
    nodes,
    isAsked: () => true,
    matches: (node) => matchesPlacement(node, template.spec, target),
    tolerates: (node) => toleratesAll(tolerations, node.taints),
  });
  return constraints.flatMap(({ topologyKey: key }, index) => {
    const allows = rules[index]?.(null).allows ?? (() => true);
    const full = new Set<string>();
    for (const node of nodes.values()) {
      const domain = node.labels[key];
      if (domain !== undefined && !allows(node)) full.add(domain);
    }
    const exists: NodeRequirement = { key, operator: 'Exists' };
    return full.size === 0 ? [exists] : [exists, { key, operator: 'NotIn', values: [...full].toSorted() }];
  });
}

/** Away from the pods of the workload, as they are from each other. `matchLabelKeys` speak of the pod's own labels. */
function acrossNamespaces(term: PodAffinityTerm, { template, namespace }: ShapeQuestion): PodAffinityTerm {
  const { topologyKey, labelSelector, matchLabelKeys } = term;
  const labels = labelsOf(template);
  const own = (matchLabelKeys ?? []).flatMap((key) => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator: 'In' as const, values: [value] }];
  });
  const matchExpressions = [...(labelSelector?.matchExpressions ?? []), ...own];
  return {
    topologyKey,
    namespaces: [namespace],
    labelSelector: { ...labelSelector, ...(matchExpressions.length > 0 && { matchExpressions }) },
  };
}

const labelsOf = ({ metadata }: TemplateView): Labels => metadata?.labels ?? {};
