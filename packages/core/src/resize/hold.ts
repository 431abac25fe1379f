import type { ModuleName } from '../disruption/intent.ts';
import type { SizeField } from '../cluster/size.ts';
import type { QosClass } from './quality.ts';

/** Which amount is in the way. */
interface Amount {
  readonly container: string;
  readonly resource: string;
}

/** Why a pod is not resized, or not as far as was asked for: millicores and bytes. */
export type ResizeHold =
  // The pod.
  | { readonly reason: 'PodNotRunning'; readonly phase: string }
  | { readonly reason: 'PodLeaving' }
  | { readonly reason: 'NodeLeaving'; readonly node: string }
  | { readonly reason: 'StaticPod' | 'WindowsPod' | 'PodLevelResources' }
  | { readonly reason: 'ResizeUnsupported'; readonly by: 'server' | 'node' }
  | { readonly reason: 'QosClass'; readonly from: QosClass; readonly to: QosClass }
  // A container.
  | {
      readonly reason: 'NotResizable';
      readonly container: string;
      readonly kind: 'none' | 'init' | 'ephemeral';
    }
  | ({ readonly reason: 'UnknownResource' } & Amount)
  | ({ readonly reason: 'AmountAdded'; readonly field: SizeField } & Amount)
  | ({ readonly reason: 'NotOwned'; readonly owner: ModuleName } & Amount)
  | ({ readonly reason: 'BelowOriginal'; readonly original: number; readonly to: number } & Amount)
  | { readonly reason: 'OriginalUnknown' }
  | ({ readonly reason: 'RequestAboveLimit'; readonly request: number; readonly limit: number } & Amount)
  | ({ readonly reason: 'RestartRequired' } & Amount)
  | { readonly reason: 'MemoryLimitFixed'; readonly container: string }
  | {
      readonly reason: 'MemoryInUse';
      readonly container: string;
      readonly used: number | null;
      readonly to: number;
    }
  // The namespace.
  | ({ readonly reason: 'LimitRangeDefaults'; readonly field: SizeField } & Amount)
  | {
      readonly reason: 'LimitRange';
      readonly of: 'Pod' | 'Container';
      readonly container: string | null;
      readonly resource: string;
      readonly bound: 'min' | 'max' | 'ratio';
      readonly allowed: number;
    }
  | {
      readonly reason: 'QuotaExceeded';
      readonly quota: string;
      readonly resource: string;
      readonly free: number;
      readonly needed: number;
    }
  // The node.
  | {
      readonly reason: 'NodeTooSmall' | 'NodeFull';
      readonly node: string;
      readonly resource: string;
      readonly has: number;
      readonly needed: number;
    }
  // What the API server or the kubelet said.
  | { readonly reason: 'Refused'; readonly by: RefusedBy; readonly message: string }
  | { readonly reason: 'Forbidden'; readonly message: string }
  | { readonly reason: 'Deferred' | 'Infeasible' | 'NotApplied'; readonly message: string }
  | { readonly reason: 'Overwritten' }
  | { readonly reason: 'Unreachable'; readonly message: string };

export type ResizeReason = ResizeHold['reason'];

/** Who turned the patch away. */
export type RefusedBy = 'quota' | 'limitRange' | 'node' | 'validation' | 'admission';

/**
 * When the same resize may be tried again.
 *
 * - `soon`: in 1 s, and twice as long after each failure up to 5 min.
 * - `slowly`: in 10 min. A try costs others their room, or cannot go well before somebody acts.
 * - `changed`: when it, or the pod's node, is another one; in 1 h at the latest.
 */
export type Retry = 'soon' | 'slowly' | 'changed';

export interface ResizeReasonTraits {
  readonly means: string;
  /** Null: it ends by itself, or is as it should be. */
  readonly remedy: string | null;
  readonly retry: Retry;
}

/** The one place that says what a reason is like. */
export const resizeReasons: Readonly<Record<ResizeReason, ResizeReasonTraits>> = {
  PodNotRunning: { means: 'the pod does not run', remedy: null, retry: 'soon' },
  PodLeaving: {
    means: 'the pod is about to go, so it gets nothing more',
    remedy: null,
    retry: 'soon',
  },
  NodeLeaving: {
    means: "the pod's node is about to go, so its pods get nothing more",
    remedy: null,
    retry: 'soon',
  },
  StaticPod: {
    means: 'the kubelet has the pod from a file, and the API server cannot resize it',
    remedy: 'change the file on the node',
    retry: 'changed',
  },
  WindowsPod: {
    means: 'Windows nodes cannot resize',
    remedy: null,
    retry: 'changed',
  },
  PodLevelResources: {
    means: 'the pod as a whole has requests or limits, which bound those of its containers',
    remedy: 'remove `spec.resources` from the template to have its containers resized',
    retry: 'changed',
  },
  ResizeUnsupported: {
    means: 'the API server has no `pods/resize`, or the kubelet does not report resources',
    remedy: 'upgrade to Kubernetes 1.33 or later',
    retry: 'slowly',
  },
  QosClass: {
    means: "the resize would change the pod's QoS class, which the API server refuses",
    remedy:
      'move requests and limits of a Guaranteed pod together; a BestEffort pod needs requests in its template',
    retry: 'changed',
  },
  NotResizable: {
    means: 'the pod has no such container, or it is an init container or an ephemeral one',
    remedy: null,
    retry: 'changed',
  },
  UnknownResource: {
    means: 'only CPU and memory can be resized',
    remedy: null,
    retry: 'changed',
  },
  AmountAdded: {
    means: 'the container has no such request or limit, and one that is added can never be removed',
    remedy: 'set it in the template',
    retry: 'changed',
  },
  NotOwned: {
    means: 'another module owns this amount',
    remedy: null,
    retry: 'soon',
  },
  BelowOriginal: {
    means: 'the CPU limit would fall below the one that its owner wrote',
    remedy: null,
    retry: 'changed',
  },
  OriginalUnknown: {
    means: 'the annotation `spotalis.io/original-cpu-limits` cannot be read, so nobody knows what is owed',
    remedy: 'write the original limits into it, or remove it to take the present ones for the originals',
    retry: 'soon',
  },
  RequestAboveLimit: {
    means: 'the request would be more than the limit',
    remedy: null,
    retry: 'changed',
  },
  RestartRequired: {
    means: "the container's `resizePolicy` restarts it when this resource changes",
    remedy: 'set `NotRequired` in the template to have it resized in place',
    retry: 'changed',
  },
  MemoryLimitFixed: {
    means: 'before Kubernetes 1.34 a memory limit cannot be lowered in place',
    remedy: 'upgrade to Kubernetes 1.34 or later',
    retry: 'changed',
  },
  MemoryInUse: {
    means: 'the container uses more than 80% of the new memory limit, or its usage is not known',
    remedy: null,
    retry: 'soon',
  },
  LimitRangeDefaults: {
    means: 'a LimitRange would add an amount that can never be removed',
    remedy: 'set it in the template',
    retry: 'changed',
  },
  LimitRange: {
    means: 'a LimitRange does not allow this size',
    remedy: 'change the LimitRange, or the bounds of the policy',
    retry: 'changed',
  },
  QuotaExceeded: {
    means: 'a ResourceQuota has too little left',
    remedy: 'raise the quota, or free some of it',
    retry: 'soon',
  },
  NodeTooSmall: {
    means: 'the node cannot hold the pod at this size even when it is empty',
    remedy: 'bound the size by the largest node',
    retry: 'changed',
  },
  NodeFull: {
    means: 'the node has no room for the increase now',
    remedy: null,
    retry: 'soon',
  },
  Refused: {
    means: 'the API server refused the resize; the message is its own',
    remedy: 'see the message',
    retry: 'changed',
  },
  Forbidden: {
    means: 'Spotalis may not patch `pods/resize` here',
    remedy: 'grant `patch` on `pods/resize` to the controller: the chart does where the module is on',
    retry: 'slowly',
  },
  Deferred: {
    means: 'the kubelet had no room for 60 s, so the resize was taken back',
    remedy: null,
    retry: 'slowly',
  },
  Infeasible: {
    means: 'the kubelet cannot ever carry out the resize, so it was taken back',
    remedy: 'see the message',
    retry: 'changed',
  },
  NotApplied: {
    means: 'the kubelet did not carry out the resize in time, so it was taken back',
    remedy: 'see the message; a node whose kubelet is away shows NotReady',
    retry: 'slowly',
  },
  Overwritten: {
    means: 'somebody else changed the pod meanwhile',
    remedy: null,
    retry: 'soon',
  },
  Unreachable: {
    means: 'the API server gave no usable answer',
    remedy: null,
    retry: 'soon',
  },
};
