import type { Labels } from '../policy/keys.ts';
import { type LabelSelector, selects } from '../policy/selector.ts';
import type { NodeView, Nodes } from './node.ts';
import type { Member } from './workload-pod.ts';
import type { PodAffinityTerm, SpreadConstraint, TemplateView } from './workload.ts';

/** A rule on where a new pod may go beside those that are there. */
export type NeighbourRule = (node: NodeView) => boolean;

/** What a rule becomes when one pod leaves. */
export interface RuleWithout {
  readonly allows: NeighbourRule;
  /** Two pods with the same text leave the same rule. */
  readonly key: string;
}

/** A rule for which pods are counted once, whichever of them leaves. Null: none does. */
export type CountedRule = (leaving: Member | null) => RuleWithout;

/** What a rule is worked out from. */
export interface Neighbourhood {
  readonly template: TemplateView;
  /** The workload's pods. Those of other workloads are not known here. */
  readonly members: readonly Member[];
  readonly nodes: Nodes;
  /** Where the new pod may go at all: the rules are asked about no other node. */
  readonly isAsked: (node: NodeView) => boolean;
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
export function spreadRules(neighbourhood: Neighbourhood): readonly CountedRule[] {
  const constraints = hardConstraints(neighbourhood.template);
  return constraints.map((constraint) => spreadRule(constraint, constraints, neighbourhood));
}

/** Whether the policies of a constraint let the node count, where it has the label. */
export function countsFor(
  { nodeAffinityPolicy, nodeTaintsPolicy }: SpreadConstraint,
  node: NodeView,
  { matches, tolerates }: Pick<Neighbourhood, 'matches' | 'tolerates'>,
): boolean {
  return (
    (nodeAffinityPolicy === 'Ignore' || matches(node)) && (nodeTaintsPolicy !== 'Honor' || tolerates(node))
  );
}

function spreadRule(
  constraint: SpreadConstraint,
  all: readonly SpreadConstraint[],
  { template, members, nodes, isAsked, matches, tolerates }: Neighbourhood,
): CountedRule {
  const { topologyKey, maxSkew, minDomains } = constraint;
  const isSelected = selectorOf(constraint, labelsOf(template));
  /** Nodes that the scheduler looks at for this constraint. */
  const counts = (node: NodeView): boolean =>
    all.every((one) => node.labels[one.topologyKey] !== undefined) &&
    countsFor(constraint, node, { matches, tolerates });
  const domainOf = ({ pod }: Member): string | null => {
    const node = pod.nodeName === null ? undefined : nodes.get(pod.nodeName);
    const domain = node?.labels[topologyKey];
    return node === undefined || domain === undefined || !counts(node) || !isSelected(pod.labels)
      ? null
      : domain;
  };
  const pods = new Map<string, number>();
  const asked = new Set<string>();
  for (const node of nodes.values()) {
    const domain = node.labels[topologyKey];
    if (domain === undefined) continue;
    if (isAsked(node)) asked.add(domain);
    if (counts(node)) pods.set(domain, 0);
  }
  for (const member of members) {
    const domain = domainOf(member);
    if (domain !== null) pods.set(domain, (pods.get(domain) ?? 0) + 1);
  }
  const isShort = pods.size < (minDomains ?? 1);
  const fewestNow = isShort ? 0 : least(pods.values());
  const self = isSelected(labelsOf(template)) ? 1 : 0;
  return (leaving) => {
    const left = leaving === null ? null : domainOf(leaving);
    const fewest = left === null || isShort ? fewestNow : Math.min(fewestNow, (pods.get(left) ?? 0) - 1);
    const eased = left !== null && asked.has(left) ? left : null;
    return {
      key: JSON.stringify([fewest, eased]),
      allows: ({ labels: { [topologyKey]: domain } }) =>
        domain !== undefined &&
        (pods.get(domain) ?? 0) - (domain === eased ? 1 : 0) + self - fewest <= maxSkew,
    };
  };
}

function least(counts: Iterable<number>): number {
  let fewest = Number.POSITIVE_INFINITY;
  for (const count of counts) fewest = Math.min(fewest, count);
  return fewest;
}

/** Each required anti-affinity of the template against pods of its own kind. */
export function antiAffinityRules(neighbourhood: Neighbourhood): readonly CountedRule[] {
  return antiAffinityTerms(neighbourhood.template).map((term) => antiAffinityRule(term, neighbourhood));
}

function antiAffinityRule(
  term: PodAffinityTerm,
  { template, members, nodes, isAsked }: Neighbourhood,
): CountedRule {
  const { topologyKey } = term;
  const isSelected = selectorOf(term, labelsOf(template));
  const domainOf = ({ pod }: Member): string | null =>
    pod.nodeName === null || !isSelected(pod.labels)
      ? null
      : (nodes.get(pod.nodeName)?.labels[topologyKey] ?? null);
  const taken = new Map<string, number>();
  for (const member of members) {
    const domain = domainOf(member);
    if (domain !== null) taken.set(domain, (taken.get(domain) ?? 0) + 1);
  }
  const asked = new Set<string>();
  for (const node of nodes.values()) {
    const domain = node.labels[topologyKey];
    if (domain !== undefined && isAsked(node)) asked.add(domain);
  }
  return (leaving) => {
    const left = leaving === null ? null : domainOf(leaving);
    const freed = left !== null && taken.get(left) === 1 && asked.has(left) ? left : null;
    return {
      key: JSON.stringify(freed),
      allows: ({ labels: { [topologyKey]: domain } }) =>
        domain === undefined || domain === freed || !taken.has(domain),
    };
  };
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
