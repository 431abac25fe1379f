import { isDeepStrictEqual } from 'node:util';
import {
  type CapacityType,
  concerns,
  nodeViewOf,
  type ObservedNode,
  type ObservedPod,
  type ObservedReplicaSet,
  type ObservedWorkload,
  type Placement,
  type TemplateView,
} from '@spotalis/core';
import type { WorkQueue } from '@spotalis/kube';
import type { Cluster } from '../../kernel/cluster/cluster.ts';
import { subjectOfNamespace, subjectOfWorkload } from '../../kernel/cluster/subject.ts';
import type { Drifting } from './report/narrator.ts';

/** A burst of pods is counted a few times, not once per pod. */
const SETTLE_MS = 500;

export interface Waiting {
  /** Those that wait for something that other objects decide, such as room on a node. */
  readonly drifting: () => Iterable<Drifting>;
  readonly placement: Placement;
}

/** Which workloads have to be looked at again after a change. Returns the way out. */
export function followChanges(
  cluster: Cluster,
  queue: Pick<WorkQueue, 'add'>,
  { drifting, placement }: Waiting,
): () => void {
  const touchPod = (pod: ObservedPod): void => {
    const workload =
      pod.placeholder === null
        ? cluster.homeOf(pod)?.workload
        : cluster.workloadByUid(pod.placeholder.workloadUid);
    if (workload !== undefined) queue.add(subjectOfWorkload(workload), { afterMs: SETTLE_MS });
  };
  const leave = [
    cluster.pods.subscribe((change) => touchPod(change.object)),
    cluster.replicaSets.subscribe(({ object }) => touchReplicaSet(cluster, queue, object)),
    ...[cluster.deployments, cluster.statefulSets].map((workloads) =>
      workloads.subscribe(({ object }) => queue.add(subjectOfWorkload(object))),
    ),
    cluster.namespaces.subscribe(({ object }) => {
      queue.add(subjectOfNamespace(object.metadata.name));
      for (const workload of cluster.workloadsIn(object.metadata.name))
        queue.add(subjectOfWorkload(workload));
    }),
    cluster.nodes.subscribe((change) => {
      if (change.type === 'updated' && isHeartbeat(change.previous, change.object)) return;
      const states = change.type === 'updated' ? [change.previous, change.object] : [change.object];
      const isConcerned = concernedBy(states, placement);
      for (const { subject, workload, seeks } of drifting()) {
        const templates = templatesOf(cluster, workload);
        if (templates.some((template) => seeks.some((to) => isConcerned(template, to)))) {
          queue.add(subject, { afterMs: SETTLE_MS });
        }
      }
      for (const pod of cluster.pods.by('node', change.object.metadata.name)) touchPod(pod);
    }),
    cluster.pdbs.subscribe(({ object }) => {
      const inNamespace = `/${object.metadata.namespace ?? ''}/`;
      for (const { subject } of drifting()) {
        if (subject.includes(inNamespace)) queue.add(subject, { afterMs: SETTLE_MS });
      }
    }),
  ];
  return () => {
    for (const one of leave) one();
  };
}

/** By template: what `concerns` goes by, in a text that many workloads share. */
const places = new WeakMap<TemplateView, string>();

/** Whether one of these states of a node concerns pods of a template, judged once for all that may go to the same. */
function concernedBy(
  states: readonly ObservedNode[],
  placement: Placement,
): (template: TemplateView, to: CapacityType) => boolean {
  const nodes = states.map((node) => nodeViewOf(node, []));
  const answers = { spot: new Map<string, boolean>(), 'on-demand': new Map<string, boolean>() };
  return (template, to) => {
    const place = places.get(template) ?? JSON.stringify(template.spec);
    places.set(template, place);
    const answer =
      answers[to].get(place) ?? nodes.some((node) => concerns(node, { template, to, placement }));
    answers[to].set(place, answer);
    return answer;
  };
}

/** What its next pods would be made of: in a rollout there are several. */
function templatesOf(cluster: Cluster, workload: ObservedWorkload): readonly TemplateView[] {
  if (workload.rollout.kind === 'StatefulSet') return [workload.rollout.template];
  const wanting = cluster.replicaSetsOf(workload).filter(({ replicas }) => replicas > 0);
  return wanting.map(({ template }) => template);
}

/** Nothing has changed but what nobody looks at. */
function isHeartbeat(
  { metadata: _before, ...previous }: ObservedNode,
  { metadata: _now, ...current }: ObservedNode,
): boolean {
  return isDeepStrictEqual(previous, current);
}

/** Its Deployment, soon. */
export function touchReplicaSet(
  cluster: Cluster,
  queue: Pick<WorkQueue, 'add'>,
  replicaSet: ObservedReplicaSet,
): void {
  const workload = cluster.deploymentOf(replicaSet);
  if (workload !== undefined) queue.add(subjectOfWorkload(workload), { afterMs: SETTLE_MS });
}

/** Everything there is. */
export function* subjectsIn(cluster: Cluster): Generator<string> {
  for (const workload of cluster.workloads()) yield subjectOfWorkload(workload);
  for (const { metadata } of cluster.namespaces.values()) yield subjectOfNamespace(metadata.name);
}
