import type { Labels } from '../policy/keys.ts';
import { type LabelSelector, selects } from '../policy/selector.ts';
import type { NodeView, Nodes } from './node.ts';
import type { Member } from './workload-pod.ts';
import type { PodAffinityTerm, SpreadConstraint, TemplateView } from './workload.ts';

/** A rule on where a new pod may go beside those that are there. */
export type NeighbourRule = (node: NodeView) => boolean;

/** What a rule is worked out from. */
export interface Neighbourhood {
  readonly template: TemplateView;
  /** The workload's pods without the one that would leave. Pods of other workloads are not known here. */
  readonly members: readonly Member[];
  readonly nodes: Nodes;
  /** Selector and affinity of the new pod, with placement. */
  readonly matches: (node: NodeView) => boolean;
  readonly tolerates: (node: NodeView) => boolean;
}

const labelsOf = ({ metadata }: TemplateView): Labels => metadata?.labels ?? {};

/** With `matchLabelKeys`, only pods that agree with the new one in these labels. No selector: no pod. */
function selectorOf(
  { labelSelector, matchLabelKeys }: Pick<SpreadConstraint, 'labelSelector' | 'matchLabelKeys'>,
  labels: Labels,
): (labels: Labels) => boolean {
  if (!labelSelector) return () => false;
  const keys = (matchLabelKeys ?? []).filter((key) => labels[key] !== undefined);
  return (other) => selects(labelSelector, other) && keys.every((key) => other[key] === labels[key]);
}

export function hardConstraints({ spec }: TemplateView): readonly SpreadConstraint[] {
  return (spec.topologySpreadConstraints ?? []).filter((one) => one.whenUnsatisfiable === 'DoNotSchedule');
}

/** Each `DoNotSchedule` constraint of the template as the scheduler would judge it. */
export function spreadRules(neighbourhood: Neighbourhood): readonly NeighbourRule[] {
  const constraints = hardConstraints(neighbourhood.template);
  return constraints.map((constraint) => spreadRule(constraint, constraints, neighbourhood));
}

function spreadRule(
  constraint: SpreadConstraint,
  all: readonly SpreadConstraint[],
  { template, members, nodes, matches, tolerates }: Neighbourhood,
): NeighbourRule {
  const { topologyKey, maxSkew, minDomains, nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
  const isSelected = selectorOf(constraint, labelsOf(template));
  /** Nodes that the scheduler looks at for this constraint. */
  const counts = (node: NodeView): boolean =>
    all.every((one) => node.labels[one.topologyKey] !== undefined) &&
    (nodeAffinityPolicy === 'Ignore' || matches(node)) &&
    (nodeTaintsPolicy !== 'Honor' || tolerates(node));
  const pods = new Map<string, number>();
  for (const node of nodes.values()) {
    const domain = node.labels[topologyKey];
    if (domain !== undefined && counts(node)) pods.set(domain, pods.get(domain) ?? 0);
  }
  for (const { pod } of members) {
    const node = pod.nodeName === null ? undefined : nodes.get(pod.nodeName);
    const domain = node?.labels[topologyKey];
    if (node === undefined || domain === undefined || !counts(node) || !isSelected(pod.labels)) continue;
    pods.set(domain, (pods.get(domain) ?? 0) + 1);
  }
  const fewest = pods.size < (minDomains ?? 1) ? 0 : Math.min(...pods.values());
  const self = isSelected(labelsOf(template)) ? 1 : 0;
  return (node) => {
    const domain = node.labels[topologyKey];
    return domain !== undefined && (pods.get(domain) ?? 0) + self - fewest <= maxSkew;
  };
}

/** Each required anti-affinity of the template against pods of its own kind. */
export function antiAffinityRules({ template, members, nodes }: Neighbourhood): readonly NeighbourRule[] {
  return antiAffinityTerms(template).map((term) => {
    const isSelected = selectorOf(term, labelsOf(template));
    const taken = new Set<string>();
    for (const { pod } of members) {
      const domain = pod.nodeName === null ? undefined : nodes.get(pod.nodeName)?.labels[term.topologyKey];
      if (domain !== undefined && isSelected(pod.labels)) taken.add(domain);
    }
    return (node) => {
      const domain = node.labels[term.topologyKey];
      return domain === undefined || !taken.has(domain);
    };
  });
}

export function antiAffinityTerms({ spec }: TemplateView): readonly PodAffinityTerm[] {
  return spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

/** Whether the answer for a node depends on which pod leaves. */
export function hasNeighbourRules(template: TemplateView): boolean {
  return hardConstraints(template).length > 0 || antiAffinityTerms(template).length > 0;
}

/**
 * The constraint that only knowledge of all pods of the cluster could judge; null when there is none. Anti-affinity
 * to pods of its own kind can be judged from these.
 */
export function unprovableConstraint(template: TemplateView): string | null {
  if (template.hostPort) return 'a hostPort';
  const { podAffinity } = template.spec.affinity ?? {};
  if ((podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0) {
    return 'required podAffinity';
  }
  const isOwnKind = (term: PodAffinityTerm): boolean =>
    (term.namespaces ?? []).length === 0 &&
    !term.namespaceSelector &&
    (term.mismatchLabelKeys ?? []).length === 0 &&
    selects(term.labelSelector ?? noSelector, labelsOf(template));
  return antiAffinityTerms(template).every(isOwnKind) ? null : 'required podAntiAffinity to other pods';
}

const noSelector: LabelSelector = { matchExpressions: [{ key: '', operator: 'Exists' }] };
