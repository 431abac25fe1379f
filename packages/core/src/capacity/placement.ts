import type { NodeLabel } from './label.ts';
import type { NodeLabels } from './labels.ts';
import type { NodeRequirement, Toleration } from '../cluster/pod-spec.ts';
import { requirementOf } from './requirement.ts';
import type { CapacityType } from './type.ts';

/** What the configuration says about pods beyond the labels of nodes. */
export interface PlacementOptions {
  /** Added to spot pods, for pools with taints. */
  readonly tolerations: readonly Toleration[];
  /** Required of the nodes of a type on top of its label. */
  readonly affinity: Readonly<Record<CapacityType, readonly NodeRequirement[]>>;
  readonly spreadSpotOverZones: boolean;
}

/** How a pod is sent to one type. */
export interface TypePlacement {
  /** Written into the pod's nodeSelector. */
  readonly selector: { readonly key: string; readonly value: string } | null;
  /** The one key whose value in the pod's nodeSelector gives way. */
  readonly overriddenKey: string | null;
  /** A node must meet all requirements of one of these; with none, the selector says it all. */
  readonly alternatives: readonly (readonly NodeRequirement[])[];
  /** What a node of this type, and of no other, can look like: all requirements of one of these. */
  readonly descriptions: readonly (readonly NodeRequirement[])[];
  readonly tolerations: readonly Toleration[];
  readonly spreadOverZones: boolean;
}

/** Node labels and options, worked out once for all the pods to come. */
export interface Placement {
  readonly keys: ReadonlySet<string>;
  readonly byType: Readonly<Record<CapacityType, TypePlacement>>;
}

type Positive = Extract<NodeLabel, { readonly op: 'equals' }>;

const isPositive = (label: NodeLabel): label is Positive => label.op === 'equals';

/** `k NotIn [v]`, unless one of the requirements says so already. */
function exclusionsOf(positives: readonly Positive[], beside: readonly NodeRequirement[]): NodeRequirement[] {
  return positives
    .filter(({ key, value }) => !beside.some((known) => excludes(known, key, value)))
    .map(({ key, value }) => ({ key, operator: 'NotIn', values: [value] }));
}

function excludes({ key: knownKey, operator, values }: NodeRequirement, key: string, value: string): boolean {
  if (knownKey !== key) return false;
  if (operator === 'In') return !values?.includes(value);
  return operator === 'DoesNotExist' || (operator === 'NotIn' && values?.includes(value) === true);
}

/**
 * The ways to be of a type, as `classifyNode` sees it: one for each `k=v`; and one for all negative labels together,
 * which holds only where the other type claims nothing.
 */
function waysToBe(
  own: readonly NodeLabel[],
  others: readonly NodeLabel[],
): readonly (readonly NodeRequirement[])[] {
  const ways: NodeRequirement[][] = own.filter(isPositive).map((label) => [requirementOf(label)]);
  const negatives = own.filter((label) => !isPositive(label)).map(requirementOf);
  if (negatives.length > 0) ways.push([...negatives, ...exclusionsOf(others.filter(isPositive), negatives)]);
  return ways;
}

function placementOf(type: CapacityType, nodeLabels: NodeLabels, options: PlacementOptions): TypePlacement {
  const [own, others] =
    type === 'spot' ? [nodeLabels.spot, nodeLabels.onDemand] : [nodeLabels.onDemand, nodeLabels.spot];
  const ways = waysToBe(own, others);
  const [only] = own;
  const selector =
    own.length === 1 && only !== undefined && isPositive(only) ? { key: only.key, value: only.value } : null;
  const keys = keysOf(nodeLabels);
  const [soleKey = null] = keys.size === 1 ? keys : [];
  const extra = options.affinity[type];
  const alternatives =
    selector === null ? ways.map((way) => way.concat(extra)) : [extra].filter(({ length }) => length > 0);
  return {
    selector,
    overriddenKey: selector?.key ?? soleKey,
    alternatives,
    descriptions: ways.map((way) => way.concat(exclusionsOf(others.filter(isPositive), way), extra)),
    tolerations: type === 'spot' ? options.tolerations : [],
    spreadOverZones: type === 'spot' && options.spreadSpotOverZones,
  };
}

function keysOf(nodeLabels: NodeLabels): ReadonlySet<string> {
  return new Set([...nodeLabels.spot, ...nodeLabels.onDemand].map(({ key }) => key));
}

export function preparePlacement(nodeLabels: NodeLabels, options: PlacementOptions): Placement {
  return {
    keys: keysOf(nodeLabels),
    byType: {
      spot: placementOf('spot', nodeLabels, options),
      'on-demand': placementOf('on-demand', nodeLabels, options),
    },
  };
}
