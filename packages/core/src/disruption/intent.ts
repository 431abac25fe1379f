import type { PodReference } from '../cluster/reference.ts';
import type { Sizes } from '../cluster/size.ts';

/** What an intent is for. The lower rank goes first. */
export const ranks = {
  /** The node of the pod is about to be taken away, by a notice with a deadline. */
  interruption: 0,
  /** An on-demand floor is short. */
  floor: 1,
  recycling: 2,
  distribution: 3,
  rightSizing: 4,
  allocation: 5,
} as const;

export type Rank = (typeof ranks)[keyof typeof ranks];

/** A capability that may ask for a disruption: the name of its folder. */
export type ModuleName = string;

/** The workload that an intent disturbs: the top controller that is known, else the pod's own. */
export interface DisruptedWorkload {
  readonly uid: string;
  readonly namespace: string;
}

interface IntentBase {
  /** Unique among all intents that wait. */
  readonly id: string;
  readonly module: ModuleName;
  readonly rank: Rank;
  /** What its module decided about, as `<module>/<kind>/<key>`. */
  readonly subject: string;
  /** Since when it has waited. */
  readonly sinceMs: number;
  readonly workload: DisruptedWorkload;
}

/** Evict a pod that may have run. */
export interface EvictIntent extends IntentBase {
  readonly kind: 'evict';
  readonly pod: PodReference;
  /** Null for a pod that never got a node. */
  readonly node: string | null;
}

/** Remove pods that never got a node. Nobody is disturbed, so they block nobody and have a budget of their own. */
export interface RemovalIntent extends IntentBase {
  readonly kind: 'removeNeverRan';
  readonly pods: readonly PodReference[];
}

/**
 * - `restore`: gives back what was changed before, or calls in what was lent. It is never held because a node or a pod
 *   is about to go.
 * - `outOfMemory`: a container was killed for want of memory, and the next one must have more.
 * - `size`: anything else.
 */
export type ResizePurpose = 'restore' | 'outOfMemory' | 'size';

/** Change the resources of a running pod in place: all of its containers in one patch. */
export interface ResizeIntent extends IntentBase {
  readonly kind: 'resize';
  readonly pod: PodReference;
  readonly purpose: ResizePurpose;
  /** What is not named stays as it is. */
  readonly to: Sizes;
  /** Written before the resize: what the resize takes away, so that it can be given back. */
  readonly remember?: { readonly annotation: string; readonly value: string };
  /** Removed after the resize is verified. */
  readonly forget?: string;
}

/** What a module asks for, to be granted by `arbitrate`. */
export type Intent = EvictIntent | RemovalIntent | ResizeIntent;
