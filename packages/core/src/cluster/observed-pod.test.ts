import { describe, expect, it } from '@jest/globals';
import { rawPod } from '../testing/objects.ts';
import { prunePod } from './observed-pod.ts';

describe('a pruned pod', () => {
  it('keeps what counts and nothing else', () => {
    const mark = { token: 't1', type: 'on-demand', rank: 4 };
    const raw = { ...rawPod('a', { node: 'n1', mark }), apiVersion: 'v1', kind: 'Pod' };
    const pod = prunePod(raw);
    expect(pod).toEqual({
      metadata: expect.objectContaining({ name: 'a', namespace: 'shop', uid: 'a-uid' }),
      controller: { kind: 'ReplicaSet', name: 'web-1', uid: 'web-1-uid' },
      ended: false,
      terminating: false,
      deletionMs: null,
      phase: 'Running',
      ready: false,
      nodeName: 'n1',
      labels: {},
      annotations: {
        'spotalis.io/reservation': 't1',
        'spotalis.io/capacity-type': 'on-demand',
        'spotalis.io/rank': '4',
      },
      createdAtMs: 0,
      startedAtMs: null,
      unschedulableSinceMs: null,
      holdup: null,
      override: null,
      priority: 0,
      preemptsPlaceholders: true,
      placeholder: null,
      requests: { pods: 1 },
      claims: [],
      reservation: 't1',
      admitted: { type: 'on-demand', rank: 4, substitute: false },
    });
    expect(Object.keys(pod!.metadata)).toEqual(['name', 'namespace', 'uid', 'resourceVersion']);
  });

  it.each(['DaemonSet', 'Job', 'Node'])('is none at all when it belongs to a %s', (ownerKind) => {
    expect(prunePod(rawPod('a', { ownerKind }))).toBeUndefined();
  });

  it('keeps of a pod that cannot be ours only the room that it takes on its node', () => {
    const raw = rawPod('a', { ownerKind: 'DaemonSet', node: 'n1' });
    const spec = { ...raw.spec, containers: [{ resources: { requests: { cpu: '500m' } } }] };
    const labelled = { ...raw.metadata, labels: { app: 'agent' } };
    expect(prunePod({ ...raw, metadata: labelled, spec })).toMatchObject({
      controller: undefined,
      labels: {},
      nodeName: 'n1',
      requests: { cpu: 500, pods: 1 },
    });
    expect(prunePod({ ...raw, status: { phase: 'Succeeded' } })).toBeUndefined();
  });

  it('knows its claims, those of ephemeral volumes by the name of the pod', () => {
    const volumes = [
      { name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } },
      { name: 'scratch', ephemeral: {} },
      { name: 'empty' },
    ];
    expect(prunePod({ ...rawPod('a'), spec: { volumes } })).toMatchObject({
      claims: ['data-db-0', 'a-scratch'],
    });
  });

  it('is none at all without a controller', () => {
    const { metadata, ...rest } = rawPod('a');
    const { ownerReferences = [], ...meta } = metadata;
    const notInCharge = [{ ...ownerReferences[0]!, controller: false }];
    expect(prunePod({ ...rest, metadata: meta })).toBeUndefined();
    expect(prunePod({ ...rest, metadata: { ...meta, ownerReferences: notInCharge } })).toBeUndefined();
  });

  it.each(['cheap', '', 'Spot'])('has no admitted type when its mark says %j', (type) => {
    expect(prunePod(rawPod('a', { mark: { token: 't1', type } }))).toMatchObject({ admitted: undefined });
  });

  it("has an admitted type without a token when it is a StatefulSet's, whose places are ordinals", () => {
    const mark = { token: '', type: 'on-demand', substitute: true };
    expect(prunePod(rawPod('web-0', { ownerKind: 'StatefulSet', mark }))).toMatchObject({
      reservation: undefined,
      admitted: { type: 'on-demand', rank: undefined, substitute: true },
    });
  });

  it('has no admitted type when there is no token beside it', () => {
    expect(prunePod(rawPod('a', { mark: { token: '', type: 'spot' } }))).toMatchObject({
      reservation: undefined,
      admitted: undefined,
    });
  });

  it.each(['-1', '1.5', 'x', '', '99999999999'])('has no rank when its mark says %j', (rank) => {
    const pod = prunePod(rawPod('a', { mark: { token: 't1', type: 'spot', rank } }));
    expect(pod?.admitted).toEqual({ type: 'spot', rank: undefined, substitute: false });
  });
});
