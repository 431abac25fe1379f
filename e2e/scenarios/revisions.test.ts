/** @needs nothing */
import { describe, expect, it } from '@jest/globals';
import { restsOf, type RevisionMoment } from './revisions.ts';

const asks = (version: number, revision: string, replicas: number): RevisionMoment => ({
  version,
  revision,
  replicas,
});
const pod = (version: number, uid: string, revision: string, ended = false): RevisionMoment => ({
  version,
  uid,
  ended,
  pod: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: uid,
      uid,
      ownerReferences: [{ kind: 'ReplicaSet', name: revision, uid: revision }],
    },
    spec: { nodeSelector: { 'karpenter.sh/capacity-type': 'spot' } },
    status: {},
  },
});
const spot = (count: number) => ({ spot: count, onDemand: 0, unsteered: 0 });

describe('the revisions of a Deployment at rest', () => {
  const old = [asks(1, 'old', 2), pod(2, 'a', 'old'), pod(3, 'b', 'old')];
  const begun = [...old, asks(4, 'new', 1)];

  it.each<{ what: string; moments: readonly RevisionMoment[]; rests: readonly object[] }>([
    { what: 'none while there is one', moments: old, rests: [] },
    { what: 'none while the other has no pod yet', moments: begun, rests: [] },
    {
      what: 'one when both have their pods, however often these change',
      moments: [...begun, pod(5, 'c', 'new'), pod(6, 'c', 'new')],
      rests: [[spot(2), spot(1)]],
    },
    {
      what: 'none while one has a pod more than it was asked for',
      moments: [...begun, asks(5, 'old', 1), pod(6, 'c', 'new')],
      rests: [],
    },
    {
      what: 'another one when that pod is gone',
      moments: [...begun, pod(5, 'c', 'new'), asks(6, 'old', 1), pod(7, 'b', 'old', true)],
      rests: [
        [spot(2), spot(1)],
        [spot(1), spot(1)],
      ],
    },
    {
      what: 'the same ones when another watch tells later what they were asked for',
      moments: [...old, pod(5, 'c', 'new'), pod(7, 'b', 'old', true), asks(4, 'new', 1), asks(6, 'old', 1)],
      rests: [
        [spot(2), spot(1)],
        [spot(1), spot(1)],
      ],
    },
  ])('are $what', ({ moments, rests }) => {
    expect(restsOf(moments)).toEqual(rests);
  });
});
