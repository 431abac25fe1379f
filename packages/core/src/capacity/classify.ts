import type { Labels } from '../policy/keys.ts';
import { isMet, type NodeLabel } from './label.ts';
import type { NodeLabels } from './labels.ts';
import type { CapacityType } from './type.ts';

const isPositive = (label: NodeLabel): boolean => label.op === 'equals';

/** Whether any `k=v` holds. */
function hasPositive(list: readonly NodeLabel[], labels: Labels): boolean {
  return list.some((label) => isPositive(label) && isMet(label, labels));
}

/** Whether there are negative labels (`k!=v`, `!k`) and all of them hold. */
function hasAllNegatives(list: readonly NodeLabel[], labels: Labels): boolean {
  let any = false;
  for (const label of list) {
    if (isPositive(label)) continue;
    if (!isMet(label, labels)) return false;
    any = true;
  }
  return any;
}

/** As stores keep it: undefined for a node that no configured label knows. */
export function classifierOf(nodeLabels: NodeLabels): (labels: Labels) => CapacityType | undefined {
  return (labels) => {
    const type = classifyNode(labels, nodeLabels);
    return type === 'unknown' ? undefined : type;
  };
}

/**
 * The type of a node by its labels. What a node says it is goes before what it does not say: in a cluster with nodes
 * of two providers a spot node of one of them also lacks the other's spot label. A node that claims both is unknown.
 */
export function classifyNode(labels: Labels, nodeLabels: NodeLabels): CapacityType | 'unknown' {
  const spot = hasPositive(nodeLabels.spot, labels);
  const onDemand = hasPositive(nodeLabels.onDemand, labels);
  if (spot || onDemand) {
    if (spot && onDemand) return 'unknown';
    return spot ? 'spot' : 'on-demand';
  }
  // `readNodeLabels` takes care that only one of the types has negative labels.
  if (hasAllNegatives(nodeLabels.spot, labels)) return 'spot';
  return hasAllNegatives(nodeLabels.onDemand, labels) ? 'on-demand' : 'unknown';
}
