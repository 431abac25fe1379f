import type { CapacityType } from '../capacity/type.ts';
import type { Labels } from '../policy/keys.ts';
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
export type Nodes = ReadonlyMap<string, NodeView>;
