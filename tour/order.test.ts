import { describe, expect, it } from '@jest/globals';
import { type CapacityType, deletionCost } from '@spotalis/core';
import type { Pod } from '@spotalis/e2e/workloads';
import { isInOrder } from './order.ts';

const policy = { spotPercentage: 50, minOnDemand: 0 };

const pod = (type: CapacityType, rank: number, kind = 'ReplicaSet'): Pod => ({
  metadata: {
    name: `${type}-${rank}`,
    uid: `${type}-${rank}`,
    annotations: {
      'spotalis.io/capacity-type': type,
      'spotalis.io/rank': String(rank),
      'controller.kubernetes.io/pod-deletion-cost': String(deletionCost(policy, type, rank)),
    },
    ownerReferences: [{ kind, name: 'web', uid: 'web' }],
  },
  spec: {},
  status: {},
});

const bypassed: Pod = { ...pod('spot', 1), metadata: { ...pod('spot', 1).metadata, annotations: {} } };

describe('the order of the pods of a workload', () => {
  it.each([
    ['right when each type has its first ranks', true, [pod('spot', 0), pod('on-demand', 0), pod('spot', 1)]],
    ['wrong with a gap', false, [pod('spot', 0), pod('on-demand', 0), pod('spot', 2)]],
    ['wrong with a pod that came past the webhook', false, [pod('spot', 0), bypassed]],
    ['of no matter to a StatefulSet', true, [pod('spot', 3, 'StatefulSet'), pod('spot', 7, 'StatefulSet')]],
  ])('is %s', (_what, isRight, pods) => {
    expect(isInOrder(policy, pods)).toBe(isRight);
  });
});
