import type { CapacityType } from '../capacity/type.ts';
import type { NodeSelectorTerm } from './pod-spec.ts';
import type { Holdup } from './unschedulable.ts';
import type { Annotations, Labels } from '../policy/keys.ts';

/** A pod that the workload's name, selector or owner led to. Whether it counts is for `membersOf` to say. */
export interface WorkloadPod {
  readonly uid: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** The owner with `controller: true`; null on a bare pod. */
  readonly controller: { readonly kind: string; readonly uid: string } | null;
  readonly labels: Labels;
  /** Ours and those of `foreignKeys`; others do not matter. The mark and the deletion cost are read from here. */
  readonly annotations: Annotations;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** The Ready condition is True. */
  readonly ready: boolean;
  /** `metadata.deletionTimestamp` is set. */
  readonly terminating: boolean;
  /** `spec.nodeName`; null while unscheduled. */
  readonly nodeName: string | null;
  /** Since when the scheduler has found no node for it, as `unschedulableSince` has it. */
  readonly unschedulableSinceMs: number | null;
  /** What else keeps it without a node; null once it has one. */
  readonly holdup: Holdup | null;
  readonly createdAtMs: number;
  /** `status.startTime`; null until the kubelet has seen it. */
  readonly startedAtMs: number | null;
  readonly priority: number;
  /** Where its bound volumes can be reached from. */
  readonly volumes: PodVolumes;
}

/** `affinities`: the required node affinity of each bound PersistentVolume that has one. */
export type PodVolumes =
  | { readonly kind: 'bound'; readonly affinities: readonly (readonly NodeSelectorTerm[])[] }
  /** A claim or its volume could not be read: such a pod stays where it is. */
  | { readonly kind: 'unknown' };

export const noVolumes: PodVolumes = { kind: 'bound', affinities: [] };

/** A pod that counts, with the type that every rule goes by. */
export interface Member {
  readonly pod: WorkloadPod;
  /**
   * Its node's type; where the node says nothing, or before it has one, the type admission gave it. Null when
   * neither is known.
   */
  readonly type: CapacityType | null;
  /** True on a node without a recognised label: it counts, and is never moved. */
  readonly onUnknownNode: boolean;
  /** The annotation's number; null where there is none. */
  readonly rank: number | null;
  /** What the ReplicaSet controller goes by: the annotation's number, else 0. */
  readonly cost: number;
  /** A StatefulSet's ordinal; null on other pods. */
  readonly ordinal: number | null;
  /** It is about to go with its node. */
  readonly doom: Doom | null;
}

/** Why the pods of a node are the first to move. */
export type Doom = 'NodeCordoned' | 'NodeInterrupted' | 'NodeNotReady';
