import { describe, expect, it } from '@jest/globals';
import {
  type CapacityType,
  preparePlacement,
  prunePdb,
  pruneReplicaSet,
  readNodeLabels,
} from '@spotalis/core';
import type { Cluster } from '../../kernel/cluster/cluster.ts';
import {
  aDeployment,
  aManagedCluster,
  aNamespace,
  aNode,
  aPod,
  aReplicaSet,
  aStatefulSet,
} from '../../testing/objects.ts';
import { FakeQueue } from '../../testing/queue.ts';
import type { Drifting } from './report/narrator.ts';
import { followChanges, subjectsIn } from './triggers.ts';

const web = 'Deployment/shop/web';

function follow() {
  const cluster = aManagedCluster();
  const queue = new FakeQueue();
  const drifting = [
    adrift(cluster, 'adrift', ['spot']),
    { ...adrift(cluster, 'where', ['spot', 'on-demand']), subject: 'Deployment/else/where' },
  ];
  const leave = followChanges(cluster, queue, { drifting: () => drifting, placement });
  return { cluster, queue, drifting, leave, keys: () => [...queue.waiting().keys()] };
}

const labels = readNodeLabels({ spot: ['capacity=spot'], onDemand: ['capacity=on-demand'] });
if (!labels.ok) throw new Error('labels');
const placement = preparePlacement(labels.labels, {
  tolerations: [],
  affinity: { spot: [], 'on-demand': [] },
  spreadSpotOverZones: false,
});

/** A workload that drifts, whose pods select these labels. */
function adrift(
  cluster: Cluster,
  name: string,
  seeks: readonly CapacityType[],
  nodeSelector: Readonly<Record<string, string>> = {},
): Drifting {
  const revision = pruneReplicaSet({
    metadata: {
      name: `${name}-1`,
      namespace: 'shop',
      uid: `${name}-1-uid`,
      resourceVersion: '1',
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: `${name}-uid`, controller: true },
      ],
    },
    spec: { replicas: 3, template: { spec: { nodeSelector } } },
  });
  cluster.replicaSets.upsert(revision, true);
  return { subject: `Deployment/shop/${name}`, workload: aDeployment({ name }), seeks };
}

describe('what makes the leader look at a workload', () => {
  it('is a pod of it, once the burst has settled', () => {
    const { cluster, queue } = follow();
    for (let i = 0; i < 20; i++) cluster.pods.upsert(aPod(`p${i}`, { node: 'spot-1' }), false);
    expect([...queue.waiting()]).toEqual([[web, 500]]);
  });

  it('is the workload itself, or its ReplicaSet', () => {
    const { cluster, queue, keys } = follow();
    cluster.replicaSets.upsert(aReplicaSet(), false);
    expect(keys()).toEqual([web]);
    cluster.deployments.upsert(aDeployment({ replicas: 9 }), false);
    expect([...queue.waiting()]).toEqual([[web, 0]]);
    cluster.statefulSets.upsert(aStatefulSet({ name: 'db' }), false);
    expect(keys()).toContain('StatefulSet/shop/db');
  });

  it('is its Namespace, which is looked at as well', () => {
    const { cluster, keys } = follow();
    cluster.namespaces.upsert(aNamespace({}), false);
    expect(keys()).toEqual(['Namespace/shop', web]);
  });

  it('is a node that changes its type under its pods, and no heartbeat', () => {
    const { cluster, queue, keys } = follow();
    cluster.pods.upsert(aPod('a', { node: 'spot-1' }), false);
    queue.waiting();
    const before = queue.added.length;
    cluster.nodes.upsert(aNode('spot-1', 'spot'), false);
    expect(queue.added).toHaveLength(before);
    cluster.nodes.upsert(aNode('spot-1', 'on-demand'), false);
    expect(keys()).toEqual([web, 'Deployment/shop/adrift', 'Deployment/else/where']);
  });

  it('is a node with more room than before, for those that drift', () => {
    const { cluster, queue, keys } = follow();
    const { metadata, ...node } = aNode('spot-1', 'spot');
    cluster.nodes.upsert({ metadata: { ...metadata, resourceVersion: 'later' }, ...node }, false);
    queue.waiting();
    expect(keys()).toEqual([]);
    const more = { ...node, allocatable: { ...node.allocatable, pods: 250 } };
    cluster.nodes.upsert({ metadata: { ...metadata, resourceVersion: 'last' }, ...more }, false);
    expect(keys()).toEqual(['Deployment/shop/adrift', 'Deployment/else/where']);
  });

  it('is a node that they could use, for those that drift: of the type, by selector and taints', () => {
    const { cluster, drifting, keys } = follow();
    drifting.push(
      adrift(cluster, 'away', ['on-demand']),
      adrift(cluster, 'picky', ['spot'], { disk: 'ssd' }),
    );
    const { metadata, ...spot } = aNode('spot-2', 'spot');
    cluster.nodes.upsert({ metadata, ...spot }, false);
    expect(keys()).toEqual(['Deployment/shop/adrift', 'Deployment/else/where']);
    const fast = { ...spot, labels: { ...spot.labels, disk: 'ssd' } };
    cluster.nodes.upsert({ metadata: { ...metadata, resourceVersion: 'labelled' }, ...fast }, false);
    expect(keys()).toContain('Deployment/shop/picky');
    cluster.nodes.upsert(aNode('od-2', 'on-demand'), false);
    expect(keys()).toContain('Deployment/shop/away');
  });

  it('is no node that was and is tainted, but one that loses its taint', () => {
    const { cluster, keys } = follow();
    const { metadata, ...node } = aNode('spot-2', 'spot');
    const taints = [{ key: 'x', effect: 'NoSchedule' }];
    cluster.nodes.upsert({ metadata, ...node, taints }, false);
    expect(keys()).toEqual([]);
    cluster.nodes.upsert({ metadata: { ...metadata, resourceVersion: 'free' }, ...node }, false);
    expect(keys()).toEqual(['Deployment/shop/adrift', 'Deployment/else/where']);
  });

  it('is a node for as many as could use it, however many drift', () => {
    const looksAmong = (others: number): number => {
      const { cluster, drifting, queue } = follow();
      for (let index = 0; index < others; index++) {
        drifting.push(adrift(cluster, `other-${index}`, ['spot'], { pool: `p${index}` }));
      }
      cluster.nodes.upsert(aNode('spot-2', 'spot'), false);
      return queue.added.length;
    };
    expect(looksAmong(1_000)).toBe(looksAmong(10));
  });

  it('is a PodDisruptionBudget of its namespace, for those that drift', () => {
    const { cluster, keys } = follow();
    const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1', generation: 1 };
    cluster.pdbs.upsert(prunePdb({ metadata }), false);
    expect(keys()).toEqual(['Deployment/shop/adrift']);
  });

  it('is nothing any more after leaving', () => {
    const { cluster, leave, keys } = follow();
    leave();
    cluster.deployments.upsert(aDeployment({ replicas: 9 }), false);
    expect(keys()).toEqual([]);
  });

  it('is the start', () => {
    expect([...subjectsIn(aManagedCluster())]).toEqual([web, 'Namespace/shop']);
  });
});
