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

/**
 * Since when the scheduler has found no node for a pod; null while that is not so. A pod that somebody still holds
 * back, that others are preempted for, or that waits for a volume waits for something else than capacity.
 */
export function unschedulableSince({ spec, status }: UnscheduledView): number | null {
  if (spec?.nodeName || status?.nominatedNodeName || (spec?.schedulingGates ?? []).length > 0) return null;
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (condition?.status !== 'False' || condition.reason !== 'Unschedulable') return null;
  // "persistentvolumeclaim "x" not found", "pod has unbound immediate PersistentVolumeClaims": the scheduler's words.
  if (/persistentvolumeclaim/i.test(condition.message ?? '')) return null;
  const sinceMs = Date.parse(condition.lastTransitionTime ?? '');
  return Number.isNaN(sinceMs) ? null : sinceMs;
}
