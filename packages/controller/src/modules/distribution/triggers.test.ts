import { describe, expect, it } from '@jest/globals';
import { prunePdb } from '@spotalis/core';
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
import { followChanges, subjectsIn } from './triggers.ts';

const web = 'Deployment/shop/web';

function follow() {
  const cluster = aManagedCluster();
  const queue = new FakeQueue();
  const leave = followChanges(cluster, queue, () => ['Deployment/shop/adrift', 'Deployment/else/where']);
  return { cluster, queue, leave, keys: () => [...queue.waiting().keys()] };
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
