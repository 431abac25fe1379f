import type { CapacityType } from '../capacity/type.ts';
import type { Labels } from '../policy/keys.ts';
import type { Doom } from './workload-pod.ts';
import type { Resources } from './resources.ts';

/** The part of a Node that moves depend on. */
export interface NodeView {
  readonly name: string;
  /** As `classifyNode` has it. */
  readonly type: CapacityType | 'unknown';
  readonly labels: Labels;
  /** The Ready condition is True. */
  readonly ready: boolean;
  /** `spec.unschedulable`. */
  readonly cordoned: boolean;
  readonly taints: readonly Taint[];
  readonly allocatable: Resources;
  /**
   * Allocatable less what the pods on it request, and less what the replacements of moves in flight were promised
   * there, so that two workloads are not sent to the same room.
   */
  readonly free: Resources;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** All nodes by name, shared by the snapshots of all workloads. */
export interface Nodes {
  get(name: string): NodeView | undefined;
  values(): IterableIterator<NodeView>;
}

/** The nodes with some of them in another state, where no other is copied. None that is not there is added. */
export function withStates(nodes: Nodes, states: ReadonlyMap<string, NodeView>): Nodes {
  return {
    get(name) {
      const node = nodes.get(name);
      return node === undefined ? undefined : (states.get(name) ?? node);
    },
    *values() {
      for (const node of nodes.values()) yield states.get(node.name) ?? node;
    },
  };
}

/** Taints that announce the end of a node. */
const interruptionTaints: ReadonlySet<string> = new Set([
  // Karpenter 1.x, and before it.
  'karpenter.sh/disrupted',
  'karpenter.sh/disruption',
  'ToBeDeletedByClusterAutoscaler',
  // GKE, 30 s before a spot node is taken.
  'cloud.google.com/impending-node-termination',
  // AKS node auto-drain, today and before: https://learn.microsoft.com/azure/aks/node-auto-drain
  'remediator.kubernetes.azure.com/unschedulable',
  'remediator.aks.microsoft.com/unschedulable',
]);
/** Spot interruption, rebalance recommendation, scheduled maintenance: one taint for each event. */
const terminationHandlerPrefix = 'aws-node-termination-handler/';

export const isInterruption = ({ key }: Taint): boolean =>
  interruptionTaints.has(key) || key.startsWith(terminationHandlerPrefix);

/** Why the node will soon be gone or empty; null when it looks as if it would stay. */
export function doomOf(node: Pick<NodeView, 'ready' | 'cordoned' | 'taints'>): Doom | null {
  if (node.taints.some(isInterruption)) return 'NodeInterrupted';
  if (!node.ready) return 'NodeNotReady';
  return node.cordoned ? 'NodeCordoned' : null;
}
