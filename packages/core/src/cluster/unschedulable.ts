/** The part of a pod that says whether the scheduler looks for a node for it in vain. */
export interface UnscheduledView {
  readonly spec?: {
    readonly nodeName?: string;
    readonly schedulingGates?: readonly unknown[] | null;
  };
  readonly status?: {
    readonly nominatedNodeName?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
      readonly lastTransitionTime?: string;
    }[];
  };
}

/** What keeps a pod without a node, other than a lack of nodes that take it. */
export type Holdup = 'SchedulingGate' | 'Preemption' | 'Volume';

export function holdupOf({ spec, status }: UnscheduledView): Holdup | null {
  if (spec?.nodeName) return null;
  if ((spec?.schedulingGates ?? []).length > 0) return 'SchedulingGate';
  if (status?.nominatedNodeName) return 'Preemption';
  // "persistentvolumeclaim "x" not found", "pod has unbound immediate PersistentVolumeClaims": the scheduler's words.
  return /persistentvolumeclaim/i.test(refusalOf(status)?.message ?? '') ? 'Volume' : null;
}

/** Since when the scheduler has found no node for a pod; null while that is not so, or something else holds the pod up. */
export function unschedulableSince(view: UnscheduledView): number | null {
  if (view.spec?.nodeName || holdupOf(view) !== null) return null;
  const sinceMs = Date.parse(refusalOf(view.status)?.lastTransitionTime ?? '');
  return Number.isNaN(sinceMs) ? null : sinceMs;
}

const refusalOf = (status: UnscheduledView['status']) =>
  status?.conditions?.find(
    (one) => one.type === 'PodScheduled' && one.status === 'False' && one.reason === 'Unschedulable',
  );
