import { readPodMark } from '../capacity/mark.ts';
import { foreignKeys } from '../policy/keys.ts';
import { doomOf, type Nodes } from './node.ts';
import type { Member, WorkloadPod } from './workload-pod.ts';
import type { RevisionView, TemplateView, WorkloadView } from './workload.ts';

/**
 * The pods that count: owned by the workload through the UID of their controller, and neither terminating nor
 * finished. Labels and names decide nothing here.
 */
export function membersOf(
  workload: WorkloadView,
  pods: readonly WorkloadPod[],
  nodes: Nodes,
): readonly Member[] {
  const owners = new Set(ownersOf(workload));
  return pods
    .filter((pod) => pod.controller !== null && owners.has(pod.controller.uid) && isActive(pod))
    .map((pod) => memberOf(pod, workload, nodes));
}

function ownersOf(workload: WorkloadView): readonly string[] {
  return workload.kind === 'StatefulSet' ? [workload.uid] : workload.revisions.map(({ uid }) => uid);
}

function isActive({ terminating, phase }: WorkloadPod): boolean {
  return !terminating && phase !== 'Succeeded' && phase !== 'Failed';
}

function memberOf(pod: WorkloadPod, workload: WorkloadView, nodes: Nodes): Member {
  const mark = readPodMark(pod.annotations);
  const node = pod.nodeName === null ? undefined : nodes.get(pod.nodeName);
  const nodeType = node === undefined || node.type === 'unknown' ? null : node.type;
  return {
    pod,
    type: nodeType ?? mark.type,
    onUnknownNode: pod.nodeName !== null && nodeType === null,
    rank: mark.rank,
    cost: costOf(pod),
    ordinal: workload.kind === 'StatefulSet' ? ordinalOf(pod.name, workload.name) : null,
    doom: node === undefined ? null : doomOf(node),
  };
}

/** What cannot be read as an int32 is 0 to the ReplicaSet controller. */
function costOf({ annotations }: WorkloadPod): number {
  const text = annotations[foreignKeys.podDeletionCost];
  return text !== undefined && /^[-+]?\d{1,10}$/.test(text) ? Number(text) : 0;
}

function ordinalOf(podName: string, workloadName: string): number | null {
  const suffix = podName.startsWith(`${workloadName}-`) ? podName.slice(workloadName.length + 1) : '';
  return /^\d{1,9}$/.test(suffix) ? Number(suffix) : null;
}

/** What its pods are made of: in a rollout there are several. */
export function templatesOf(workload: WorkloadView): readonly TemplateView[] {
  if (workload.kind === 'StatefulSet') return [workload.template];
  return workload.revisions.filter(({ replicas }) => replicas > 0).map(({ template }) => template);
}

/** The one ReplicaSet that wants pods; null while there are several, or none. */
export function activeRevision(workload: WorkloadView): RevisionView | null {
  if (workload.kind === 'StatefulSet') return null;
  const active = workload.revisions.filter(({ replicas }) => replicas > 0);
  return active.length === 1 ? (active[0] ?? null) : null;
}
