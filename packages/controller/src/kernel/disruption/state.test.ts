import { describe, expect, it } from '@jest/globals';
import { aManagedCluster, aPod } from '../../testing/objects.ts';
import { stateOf } from './state.ts';

const names = ({ pods }: ReturnType<typeof stateOf>) => pods.map(({ metadata }) => metadata.name);

describe('a workload as its disruption sees it', () => {
  it('has its pods, but for those that failed and nobody deletes', () => {
    const cluster = aManagedCluster();
    cluster.pods.upsert(aPod('a', { node: 'spot-1' }), true);
    cluster.pods.upsert(aPod('left-over', { phase: 'Failed' }), true);
    cluster.pods.upsert(aPod('going', { terminating: true }), true);
    const state = stateOf(cluster, 'web-uid');
    expect(state.replicas).toBe(3);
    expect(names(state)).toEqual(['a', 'going']);
  });

  it('of a kind that nobody watches has the pod that goes, as long as it is there', () => {
    const cluster = aManagedCluster();
    const victim = { namespace: 'shop', name: 'agent', uid: 'agent-uid' };
    cluster.pods.upsert(aPod('agent', { ownerKind: 'DaemonSet', owner: 'agents', node: 'spot-1' }), true);
    expect(names(stateOf(cluster, 'agents-uid', victim))).toEqual(['agent']);
    expect(names(stateOf(cluster, 'agents-uid', { ...victim, uid: 'another' }))).toEqual([]);
    cluster.pods.remove('shop/agent');
    expect(stateOf(cluster, 'agents-uid', victim)).toEqual({ replicas: undefined, pods: [] });
  });

  it('that is gone has none', () => {
    expect(stateOf(aManagedCluster(), 'gone-uid')).toEqual({ replicas: undefined, pods: [] });
  });
});
