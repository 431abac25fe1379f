import { foreignKeys } from '../policy/keys.ts';
import { isInterruption, type NodeView, type Taint } from '../cluster/node.ts';

/** Labels whose value is another one on every node. */
const ownLabels: ReadonlySet<string> = new Set([foreignKeys.hostname]);
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

/** The same for nodes that are alike but for their names. */
export function shapeKey({ type, labels, taints, allocatable }: NodeView): string {
  const sorted = (record: object): unknown => Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const common = Object.fromEntries(Object.entries(labels).filter(([key]) => !ownLabels.has(key)));
  return JSON.stringify([type, sorted(common), taints.filter(lasts), sorted(allocatable)]);
}
