import { isMet, type NodeLabel } from './label.ts';
import type { NodeLabels } from './labels.ts';
import type { NodeRequirement } from '../cluster/pod-spec.ts';
import { canAllBeMet } from './requirement.ts';

/** The part of a NodePool of Karpenter (karpenter.sh/v1) that says which nodes it makes. */
export interface NodePoolView {
  readonly spec?: {
    readonly template?: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> | null } | null;
      readonly spec?: { readonly requirements?: readonly NodeRequirement[] | null } | null;
    };
  };
}

const isPositive = (label: NodeLabel): boolean => label.op === 'equals';

const textOf = (label: NodeLabel): string => {
  if (label.op === 'absent') return `!${label.key}`;
  return `${label.key}${label.op === 'equals' ? '=' : '!='}${label.value}`;
};

/** Label selectors, of which some one finds each node that is on-demand. What they find may still be of no type. */
export function onDemandSelectors({ onDemand }: NodeLabels): readonly string[] {
  const negatives = onDemand.filter((label) => !isPositive(label)).map(textOf);
  const positives = onDemand.filter(isPositive).map(textOf);
  return negatives.length === 0 ? positives : [...positives, negatives.join(',')];
}

/** Karpenter puts this label on every node, and a pool that asks for nothing may make both types. */
const everywhere = 'karpenter.sh/capacity-type';

/** Whether the pool may make on-demand nodes, which it may not have done yet. */
export function offersOnDemand({ spec }: NodePoolView, { onDemand }: NodeLabels): boolean {
  const { metadata, spec: template } = spec?.template ?? {};
  const labels = metadata?.labels ?? {};
  const requirements = template?.requirements ?? [];
  return onDemand.filter(isPositive).some((label) => {
    if (isMet(label, labels)) return true;
    const asked = requirements.filter(({ key }) => key === label.key);
    if (asked.length === 0) return label.key === everywhere && labels[everywhere] === undefined;
    const wish = {
      key: label.key,
      operator: 'In',
      values: label.op === 'equals' ? [label.value] : [],
    } as const;
    return canAllBeMet([...asked, wish]);
  });
}
