import { describe, expect, it } from '@jest/globals';
import type { ApiClient } from '@spotalis/cluster';
import { type Pod, Workload } from '@spotalis/e2e/workloads';
import { Growth } from './growth.ts';

const declaration = {
  name: 'search',
  namespace: 'shop',
  replicas: 4,
  policy: { spotPercentage: 50, minOnDemand: 0 },
};

interface Made {
  readonly steeredTo?: 'spot' | 'on-demand';
  readonly marked?: 'spot' | 'on-demand';
}

const pod = (uid: string, { steeredTo, marked }: Made = {}): Pod => ({
  metadata: { uid, annotations: marked === undefined ? {} : { 'spotalis.io/capacity-type': marked } },
  spec: steeredTo === undefined ? {} : { nodeSelector: { 'karpenter.sh/capacity-type': steeredTo } },
  status: {},
});

const workload = new Workload({} as ApiClient, declaration);

describe('the growth of a workload in a scene', () => {
  it('counts a pod that an earlier scene left unsteered by the type that the leader found', () => {
    const earlier = [pod('a', { marked: 'spot' }), pod('b', { marked: 'on-demand' })];
    const made = [pod('c', { steeredTo: 'spot' }), pod('d', { steeredTo: 'on-demand' })];
    expect(new Growth(workload, earlier).splitOf([...earlier, ...made])).toEqual({
      spot: 2,
      onDemand: 2,
      unsteered: 0,
    });
  });

  it('counts a pod of its own that came past the webhook as unsteered, marked or not', () => {
    const made = [pod('a', { marked: 'spot' }), pod('b')];
    expect(new Growth(workload, []).splitOf(made)).toEqual({ spot: 0, onDemand: 0, unsteered: 2 });
  });
});
