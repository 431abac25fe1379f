import type { CapacityType } from '../capacity/type.ts';
import { type Managed, managed } from '../policy/managed.ts';
import { type PolicyDefaults, type PolicyReading, readPolicy } from '../policy/policy.ts';
import type { Scope } from '../policy/settings.ts';
import type { ObservedNamespace } from './namespace.ts';
import type { ObservedPod } from './observed-pod.ts';
import type { ObservedWorkload } from './observed-workload.ts';
import type { ObservedPdb } from './pdb.ts';
import type { ObservedReplicaSet } from './replicaset.ts';
import type { VolumeLookup } from './volume.ts';

/** A cluster as one program knows it: from its watches, or from one reading of everything. */
export interface ClusterView extends VolumeLookup {
  readonly namespaces: { get(name: string): ObservedNamespace | undefined };
  podsOf(workload: ObservedWorkload): readonly ObservedPod[];
  /** Of a StatefulSet there are none. */
  replicaSetsOf(workload: ObservedWorkload): readonly ObservedReplicaSet[];
  pdbsIn(namespace: string): readonly ObservedPdb[];
  /** Undefined before the pod has a node, and on one that no configured label knows. */
  nodeTypeOf(pod: ObservedPod): CapacityType | undefined;
}

/** What holds for a workload by its own annotations, those of its Namespace, and the configuration. */
export function policyIn(
  { namespaces }: Pick<ClusterView, 'namespaces'>,
  { annotations, metadata: { namespace = '' } }: ObservedWorkload,
  defaults: PolicyDefaults,
): PolicyReading {
  return readPolicy({
    workload: annotations,
    namespace: namespaces.get(namespace)?.annotations ?? {},
    defaults,
  });
}

/** Whether a workload of this Namespace is ours, or why not. */
export function managedIn(
  namespace: Pick<ObservedNamespace, 'labels'> | undefined,
  { metadata, labels }: Pick<ObservedWorkload, 'metadata' | 'labels'>,
  scope: Scope,
): Managed {
  return managed(
    {
      namespace: metadata.namespace ?? '',
      namespaceLabels: namespace?.labels ?? {},
      workloadLabels: labels,
    },
    scope,
  );
}
