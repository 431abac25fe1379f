import {
  isCapacityType,
  type ObservedNamespace,
  type ObservedNode,
  type ObservedPod,
  type ObservedReplicaSet,
  type ObservedWorkload,
  pruneNamespace,
  pruneNode,
  prunePod,
  pruneReplicaSet,
  pruneWorkload,
  type RawPod,
} from '@spotalis/core';
import type { RawObject } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import { Cluster } from '../kernel/cluster/cluster.ts';

/** Says nothing. */
export const silent: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => silent,
};

let version = 0;
const nextVersion = (): string => String(++version);

const enabled = { 'spotalis.io/enabled': 'true' };
const typeLabel = 'capacity';

const meta = (name: string, more: Partial<RawObject['metadata']> = {}): RawObject['metadata'] => ({
  name,
  uid: `${name}-uid`,
  resourceVersion: nextVersion(),
  ...more,
});

const ownedBy = (kind: string, name: string) => [
  { apiVersion: 'apps/v1', kind, name, uid: `${name}-uid`, controller: true },
];

export const aNamespace = (
  labels: Readonly<Record<string, string>> = enabled,
  annotations = {},
): ObservedNamespace => pruneNamespace({ metadata: meta('shop', { labels, annotations }) });

export const aNode = (name: string, type: 'spot' | 'on-demand' | undefined): ObservedNode =>
  pruneNode(({ [typeLabel]: says }) => (isCapacityType(says) ? says : undefined))({
    metadata: meta(name, { labels: type === undefined ? {} : { [typeLabel]: type } }),
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      allocatable: { cpu: '8', memory: '16Gi', pods: '110' },
    },
  });

interface WorkloadChange {
  readonly name?: string;
  readonly replicas?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const aWorkload =
  (kind: 'Deployment' | 'StatefulSet') =>
  ({
    name = 'web',
    replicas = 3,
    labels = enabled,
    annotations = {},
  }: WorkloadChange = {}): ObservedWorkload =>
    pruneWorkload(kind)({
      metadata: meta(name, { namespace: 'shop', labels, annotations }),
      spec: { replicas },
      status: { updatedReplicas: replicas, availableReplicas: replicas },
    });

export const aDeployment = aWorkload('Deployment');
export const aStatefulSet = aWorkload('StatefulSet');

export const aReplicaSet = (name = 'web-1', { owner = 'web', replicas = 3 } = {}): ObservedReplicaSet =>
  pruneReplicaSet({
    metadata: meta(name, {
      namespace: 'shop',
      labels: { 'pod-template-hash': name },
      ownerReferences: ownedBy('Deployment', owner),
    }),
    spec: { replicas },
  });

interface PodChange {
  readonly owner?: string;
  readonly ownerKind?: string;
  readonly node?: string;
  readonly phase?: string;
  readonly terminating?: boolean;
  /** When its grace period ends, or ended. */
  readonly deletedAt?: string;
  readonly ready?: boolean;
  readonly createdAt?: string;
  /** What admission wrote; none for a pod that it never saw. */
  readonly mark?: {
    readonly token: string;
    readonly type: string;
    readonly rank?: number | string;
    readonly policy?: string;
  };
}

export function rawPod(name: string, change: PodChange = {}): RawPod {
  const {
    owner = 'web-1',
    ownerKind = 'ReplicaSet',
    node,
    phase = 'Running',
    terminating = false,
    deletedAt = '2026-01-01T00:00:00Z',
    ready = false,
    createdAt,
    mark,
  } = change;
  const annotations =
    mark === undefined
      ? {}
      : {
          'spotalis.io/reservation': mark.token,
          'spotalis.io/capacity-type': mark.type,
          ...(mark.rank === undefined ? {} : { 'spotalis.io/rank': String(mark.rank) }),
          ...(mark.policy === undefined ? {} : { 'spotalis.io/policy': mark.policy }),
        };
  return {
    metadata: meta(name, {
      namespace: 'shop',
      annotations,
      ownerReferences: ownedBy(ownerKind, owner),
      ...(createdAt === undefined ? {} : { creationTimestamp: createdAt }),
      ...(terminating ? { deletionTimestamp: deletedAt } : {}),
    }),
    spec: node === undefined ? {} : { nodeName: node },
    status: { phase, ...(ready ? { conditions: [{ type: 'Ready', status: 'True' }] } : {}) },
  };
}

export function aPod(name: string, change: PodChange = {}): ObservedPod {
  const pod = prunePod(rawPod(name, change));
  if (pod === undefined) throw new Error(`${name} was pruned away`);
  return pod;
}

/** A cluster whose rule of opt-in is the two labels, with faults of handlers surfacing in the test. */
export function aCluster(): Cluster {
  return new Cluster(
    (namespace, { labels }) =>
      namespace?.labels['spotalis.io/enabled'] === 'true' && labels['spotalis.io/enabled'] === 'true',
    (error) => {
      throw error;
    },
  );
}

/** The usual: a managed Deployment `web` with one ReplicaSet `web-1`, and a node of each type. */
export function aManagedCluster(): Cluster {
  const cluster = aCluster();
  cluster.namespaces.upsert(aNamespace(), true);
  cluster.nodes.upsert(aNode('spot-1', 'spot'), true);
  cluster.nodes.upsert(aNode('od-1', 'on-demand'), true);
  cluster.deployments.upsert(aDeployment(), true);
  cluster.replicaSets.upsert(aReplicaSet(), true);
  return cluster;
}
