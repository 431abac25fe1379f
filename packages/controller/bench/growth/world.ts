import {
  type CapacityType,
  isCapacityType,
  readNodeLabels,
  preparePlacement,
  type ObservedPod,
  pruneNode,
  prunePod,
  pruneReplicaSet,
} from '@spotalis/core';
import type { Cluster } from '../../src/kernel/cluster/cluster.ts';
import { aDeployment, rawPod } from '../../src/testing/objects.ts';

const nodeLabels = readNodeLabels({ spot: ['capacity=spot'], onDemand: ['capacity=on-demand'] });
if (!nodeLabels.ok) throw new Error('node labels');
export const placement = preparePlacement(nodeLabels.labels, {
  tolerations: [],
  affinity: { spot: [], 'on-demand': [] },
  spreadSpotOverZones: false,
});

export const PODS_PER_NODE = 20;
const PODS_PER_WORKLOAD = 10;
const POOLS = 10;

const poolOf = (index: number): string => `pool-${index % POOLS}`;
export const nodeNameOf = (type: CapacityType, index: number): string => `${type}-node-${index}`;

let version = 0;

export interface NodeChange {
  readonly zone?: string;
  readonly pods?: number;
  readonly cpu?: number;
}

/** A Ready node of one of the pools. */
export function putNode(cluster: Cluster, type: CapacityType, index: number, change: NodeChange = {}): void {
  const { zone = 'a', pods = 110, cpu = 64 } = change;
  const name = nodeNameOf(type, index);
  const labels = {
    capacity: type,
    pool: poolOf(index),
    'kubernetes.io/hostname': name,
    'topology.kubernetes.io/zone': zone,
  };
  const node = pruneNode(({ capacity }) => (isCapacityType(capacity) ? capacity : undefined))({
    metadata: { name, uid: `${name}-uid`, resourceVersion: `n${++version}`, labels },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      allocatable: { cpu: String(cpu), memory: '256Gi', pods: String(pods) },
    },
  });
  cluster.nodes.upsert(node, false);
}

/** A Deployment with its ReplicaSet. */
export function putWorkload(
  cluster: Cluster,
  name: string,
  replicas: number,
  template: NonNullable<Parameters<typeof pruneReplicaSet>[0]['spec']>['template'] = {},
): void {
  cluster.deployments.upsert(aDeployment({ name, replicas }), false);
  const metadata = {
    name: `${name}-1`,
    namespace: 'shop',
    uid: `${name}-1-uid`,
    resourceVersion: `r${++version}`,
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: `${name}-uid`, controller: true },
    ],
  };
  cluster.replicaSets.upsert(pruneReplicaSet({ metadata, spec: { replicas, template } }), false);
}

export function putPod(
  cluster: Cluster,
  workload: string,
  index: number,
  type: CapacityType,
  node: string,
  labels: Readonly<Record<string, string>> = {},
): ObservedPod {
  const name = `${workload}-${index}`;
  const mark = { token: name, type, rank: index };
  const { metadata, ...raw } = rawPod(name, { owner: `${workload}-1`, node, ready: true, mark });
  const pod = prunePod({ metadata: { ...metadata, labels }, ...raw });
  if (pod === undefined) throw new Error(`${name} was pruned away`);
  cluster.pods.upsert(pod, false);
  return pod;
}

/** Workloads of ten pods, half of them on spot as their policy asks for, on nodes of twenty. */
export function fill(cluster: Cluster, pods: number): { readonly workloads: number; readonly nodes: number } {
  const nodesOfAType = Math.ceil(pods / PODS_PER_NODE / 2);
  for (let index = 0; index < nodesOfAType; index++) {
    putNode(cluster, 'spot', index);
    putNode(cluster, 'on-demand', index);
  }
  const workloads = pods / PODS_PER_WORKLOAD;
  for (let index = 0; index < workloads; index++) {
    const workload = `w${index}`;
    putWorkload(cluster, workload, PODS_PER_WORKLOAD, { spec: { nodeSelector: { pool: poolOf(index) } } });
    for (let pod = 0; pod < PODS_PER_WORKLOAD; pod++) {
      const type = pod % 2 === 0 ? 'spot' : 'on-demand';
      putPod(cluster, workload, pod, type, nodeNameOf(type, index % nodesOfAType));
    }
  }
  return { workloads, nodes: nodesOfAType * 2 };
}

/** Microseconds of CPU for one call, the median of rounds after one to warm up. */
export async function microseconds(
  rounds: number,
  calls: number,
  body: (index: number) => unknown,
): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const began = process.cpuUsage();
    for (let call = 0; call < calls; call++) await body(round * calls + call);
    const { user, system } = process.cpuUsage(began);
    if (round > 0) times.push((user + system) / calls);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
