import type { ObservedWorkload, WorkloadKind } from '@spotalis/core';
import { type KubeObject, keyOf, type ObjectReference } from '@spotalis/kube';
import type { Labels } from '@spotalis/units';

/** What a key of the leader's queue stands for. */
export type Subject =
  | { readonly kind: WorkloadKind; readonly key: string }
  | { readonly kind: 'Namespace'; readonly key: string };

/** `Deployment/shop/web`: also what log lines call it. */
export const subjectOfWorkload = (workload: ObservedWorkload): string =>
  `${workload.workloadKind}/${keyOf(workload)}`;

export const subjectOfNamespace = (name: string): string => `Namespace/${name}`;

export function parseSubject(subject: string): Subject | undefined {
  const slash = subject.indexOf('/');
  const kind = subject.slice(0, slash);
  const key = subject.slice(slash + 1);
  return kind === 'Deployment' || kind === 'StatefulSet' || kind === 'Namespace' ? { kind, key } : undefined;
}

export type WorkloadLabel = 'namespace' | 'workload' | 'workload_type';

export const workloadLabels: readonly WorkloadLabel[] = ['namespace', 'workload', 'workload_type'];

/** How a metric names a workload. */
export const labelsOfWorkload = ({ workloadKind, metadata }: ObservedWorkload): Labels<WorkloadLabel> => ({
  namespace: metadata.namespace ?? '',
  workload: metadata.name,
  workload_type: workloadKind,
});

/** How an Event names its object. */
export function referenceTo(kind: Subject['kind'], { metadata }: KubeObject): ObjectReference {
  return {
    apiVersion: kind === 'Namespace' ? 'v1' : 'apps/v1',
    kind,
    name: metadata.name,
    uid: metadata.uid,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  };
}
