import {
  type CapacityType,
  type ClusterView,
  enabledLabel,
  type ObservedClaim,
  type ObservedNamespace,
  type ObservedNode,
  type ObservedPdb,
  type ObservedPod,
  type ObservedReplicaSet,
  type ObservedVolume,
  type ObservedWorkload,
  type WorkloadKind,
} from '@spotalis/core';
import { Store } from '@spotalis/kube';
import type { Revision } from '@spotalis/ledger';

/** Whether a workload is ours, from its namespace and itself: core's one rule with the configured scope. */
export type Managed = (
  namespace: ObservedNamespace | undefined,
  workload: Pick<ObservedWorkload, 'metadata' | 'labels'>,
) => boolean;

/** Where a pod of a Deployment counts. */
export interface Home {
  readonly workload: ObservedWorkload;
  /** A StatefulSet has none: its pods' types follow from their ordinals. */
  readonly revision: Revision | undefined;
}

const uidOf = (object: { readonly metadata: { readonly uid: string } }): readonly string[] => [
  object.metadata.uid,
];
const namespaceOf = (object: { readonly metadata: { readonly namespace?: string } }): readonly string[] =>
  object.metadata.namespace === undefined ? [] : [object.metadata.namespace];
const controllerUidOf = (object: {
  readonly controller: { readonly uid: string } | undefined;
}): readonly string[] => (object.controller === undefined ? [] : [object.controller.uid]);

const nodeNameOf = ({ nodeName }: ObservedPod): readonly string[] =>
  nodeName === undefined ? [] : [nodeName];

/** Placeholders by namespace: only those in our own are ours. */
const placeholderOf = ({ placeholder, metadata: { namespace } }: ObservedPod): readonly string[] =>
  placeholder === null || namespace === undefined ? [] : [namespace];

/** A subscriber threw: the stores go on, and somebody has to hear of it. */
export type HandlerFault = (error: Error) => void;

/** Everything this process knows of the cluster, and who belongs to whom in it. */
export class Cluster implements ClusterView {
  readonly namespaces: Store<ObservedNamespace>;
  readonly deployments: Store<ObservedWorkload, 'uid' | 'namespace'>;
  readonly statefulSets: Store<ObservedWorkload, 'uid' | 'namespace'>;
  readonly replicaSets: Store<ObservedReplicaSet, 'uid' | 'controller'>;
  readonly pods: Store<ObservedPod, 'controller' | 'node' | 'placeholder'>;
  readonly nodes: Store<ObservedNode>;
  readonly pdbs: Store<ObservedPdb, 'namespace'>;
  readonly claims: Store<ObservedClaim, 'namespace'>;
  readonly volumes: Store<ObservedVolume>;
  readonly #managed: Managed;
  readonly #revisions = new WeakMap<ObservedReplicaSet, Revision>();

  constructor(managed: Managed, onHandlerError: HandlerFault) {
    this.#managed = managed;
    const workloads = { indexes: { uid: uidOf, namespace: namespaceOf }, onHandlerError };
    this.namespaces = new Store<ObservedNamespace>({ onHandlerError });
    this.deployments = new Store<ObservedWorkload, 'uid' | 'namespace'>(workloads);
    this.statefulSets = new Store<ObservedWorkload, 'uid' | 'namespace'>(workloads);
    this.replicaSets = new Store<ObservedReplicaSet, 'uid' | 'controller'>({
      indexes: { uid: uidOf, controller: controllerUidOf },
      onHandlerError,
    });
    this.pods = new Store<ObservedPod, 'controller' | 'node' | 'placeholder'>({
      indexes: { controller: controllerUidOf, node: nodeNameOf, placeholder: placeholderOf },
      onHandlerError,
    });
    this.nodes = new Store<ObservedNode>({ onHandlerError });
    this.pdbs = new Store<ObservedPdb, 'namespace'>({ indexes: { namespace: namespaceOf }, onHandlerError });
    this.claims = new Store<ObservedClaim, 'namespace'>({
      indexes: { namespace: namespaceOf },
      onHandlerError,
    });
    this.volumes = new Store<ObservedVolume>({ onHandlerError });
  }

  isManaged(workload: ObservedWorkload): boolean {
    return this.#managed(this.namespaces.get(workload.metadata.namespace ?? ''), workload);
  }

  /** Whether a labelled workload in it would be ours. */
  isOpenTo(namespace: ObservedNamespace): boolean {
    const metadata = { ...namespace.metadata, namespace: namespace.metadata.name };
    return this.#managed(namespace, { metadata, labels: { [enabledLabel]: 'true' } });
  }

  /** Whether it is there and ours now: a label may have been taken away since it was read. */
  isStillManaged({ metadata }: ObservedWorkload): boolean {
    const now = this.workloadByUid(metadata.uid);
    return now !== undefined && this.isManaged(now);
  }

  /** For people: how much there is. */
  sizes(): Readonly<Record<string, number>> {
    const { namespaces, nodes, deployments, statefulSets, replicaSets, pods, pdbs, claims, volumes } = this;
    return {
      namespaces: namespaces.size,
      nodes: nodes.size,
      deployments: deployments.size,
      statefulSets: statefulSets.size,
      replicaSets: replicaSets.size,
      pods: pods.size,
      pdbs: pdbs.size,
      claims: claims.size,
      volumes: volumes.size,
    };
  }

  workload(kind: WorkloadKind, key: string): ObservedWorkload | undefined {
    return (kind === 'Deployment' ? this.deployments : this.statefulSets).get(key);
  }

  workloadByUid(uid: string): ObservedWorkload | undefined {
    return this.deployments.by('uid', uid)[0] ?? this.statefulSets.by('uid', uid)[0];
  }

  *workloads(): Generator<ObservedWorkload> {
    yield* this.deployments.values();
    yield* this.statefulSets.values();
  }

  workloadsIn(namespace: string): readonly ObservedWorkload[] {
    return [...this.deployments.by('namespace', namespace), ...this.statefulSets.by('namespace', namespace)];
  }

  /** Undefined while a link of the chain is not known, or when it ends at something that is no workload. */
  homeOf(pod: ObservedPod): Home | undefined {
    const { controller } = pod;
    if (controller?.kind === 'StatefulSet') {
      const [workload] = this.statefulSets.by('uid', controller.uid);
      return workload === undefined ? undefined : { workload, revision: undefined };
    }
    if (controller?.kind !== 'ReplicaSet') return undefined;
    const [replicaSet] = this.replicaSets.by('uid', controller.uid);
    const workload = replicaSet === undefined ? undefined : this.deploymentOf(replicaSet);
    if (replicaSet === undefined || workload === undefined) return undefined;
    return { workload, revision: this.#revisionOf(workload, replicaSet) };
  }

  /** The same one for all pods of a ReplicaSet, of which each keeps it. */
  #revisionOf(workload: ObservedWorkload, replicaSet: ObservedReplicaSet): Revision {
    const known = this.#revisions.get(replicaSet);
    if (known?.workloadUid === workload.metadata.uid) return known;
    const revision = revisionOf(workload, replicaSet);
    this.#revisions.set(replicaSet, revision);
    return revision;
  }

  deploymentOf(replicaSet: ObservedReplicaSet): ObservedWorkload | undefined {
    return replicaSet.controller?.kind === 'Deployment'
      ? this.deployments.by('uid', replicaSet.controller.uid)[0]
      : undefined;
  }

  replicaSetsOf(workload: ObservedWorkload): readonly ObservedReplicaSet[] {
    return workload.workloadKind === 'Deployment'
      ? this.replicaSets.by('controller', workload.metadata.uid)
      : [];
  }

  podsOf(workload: ObservedWorkload): readonly ObservedPod[] {
    return workload.workloadKind === 'StatefulSet'
      ? this.pods.by('controller', workload.metadata.uid)
      : this.replicaSetsOf(workload).flatMap((replicaSet) =>
          this.pods.by('controller', replicaSet.metadata.uid),
        );
  }

  pdbsIn(namespace: string): readonly ObservedPdb[] {
    return this.pdbs.by('namespace', namespace);
  }

  /** What the pod's node says; undefined before the pod has one, and on a node that says nothing. */
  nodeTypeOf(pod: ObservedPod): CapacityType | undefined {
    return pod.nodeName === undefined ? undefined : this.nodes.get(pod.nodeName)?.type;
  }
}

export const revisionOf = (workload: ObservedWorkload, replicaSet: ObservedReplicaSet): Revision => ({
  workloadUid: workload.metadata.uid,
  replicaSetUid: replicaSet.metadata.uid,
});
