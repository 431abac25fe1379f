import { foreignKeys } from '../../policy/keys.ts';
import { isInterruption, type NodeView, type Taint } from '../../cluster/node.ts';
import { largerResources } from '../../cluster/resources.ts';

/** Taints that come and go with the state of a node. */
const stateTaints = 'node.kubernetes.io/';

const lasts = (taint: Taint): boolean => !taint.key.startsWith(stateTaints) && !isInterruption(taint);

/** The node as it was when it was new: Ready, empty, and nothing wrong with it. */
export function emptyNode(node: NodeView): NodeView {
  return {
    ...node,
    ready: true,
    cordoned: false,
    taints: node.taints.filter(lasts),
    free: node.allocatable,
  };
}

/** Machines of one kind differ by some KiB. An eighth of a doubling: within 9 % of each other. */
const STEPS_PER_DOUBLING = 8;

/** A resource of which there is none is as good as absent. */
const magnitudes = (allocatable: NodeView['allocatable']) =>
  Object.entries(allocatable)
    .filter(([, amount]) => amount > 0)
    .map(([name, amount]) => [name, Math.floor(Math.log2(amount) * STEPS_PER_DOUBLING)] as const);

/** The same for nodes that are alike: those of one kind, but for the labels that name a single node. */
export function shapeKey({ type, labels, taints, allocatable }: NodeView, namesNode: NamesNode): string {
  const shared = Object.entries(labels).filter(([key]) => !namesNode.has(key));
  return JSON.stringify([type, sorted(shared), taints.filter(lasts), sorted(magnitudes(allocatable))]);
}

/** Keys of labels whose value is another one on every node. */
export type NamesNode = ReadonlySet<string>;
export const hostnameOnly: NamesNode = new Set([foreignKeys.hostname]);

const sorted = <Entry extends readonly [string, unknown]>(entries: readonly Entry[]): readonly Entry[] =>
  entries.toSorted(([a], [b]) => (a < b ? -1 : 1));

/** One empty node that takes whatever either of two of one shape takes. */
export function largerShape(one: NodeView, other: NodeView): NodeView {
  const allocatable = largerResources(one.allocatable, other.allocatable);
  return { ...one, allocatable, free: allocatable };
}

/**
 * The keys of labels that have more values than `most` among these nodes, beside those known. What the nodes of a
 * kind have in common, a pool, a zone, an instance type, has few.
 */
export function namingLabels(nodes: Iterable<NodeView>, most: number, known: NamesNode): NamesNode {
  const values = new Map<string, Set<string>>();
  for (const { labels } of nodes) {
    for (const [key, value] of Object.entries(labels)) {
      const seen = values.get(key) ?? new Set();
      values.set(key, seen.add(value));
    }
  }
  const found = [...values].filter(([, seen]) => seen.size > most).map(([key]) => key);
  return new Set([...known, ...found]);
}
