import { describe, expect, it } from '@jest/globals';
import { foreignKeys, podKeys } from '../../policy/keys.ts';
import { deployment, node, nodesOf, NOON, pod, type PodOptions } from '../../testing/rebalance.ts';
import { candidatesOf } from './candidate.ts';
import { membersOf } from '../../cluster/member.ts';

const numbers = { spotPercentage: 100, minOnDemand: 0 };
const nodes = nodesOf(
  node('spot-1', 'spot'),
  node('od-1', 'on-demand'),
  node('plain', 'unknown'),
  node('leaving', 'spot', {
    taints: [{ key: 'aws-node-termination-handler/spot-itn', effect: 'NoSchedule' }],
  }),
  node('cordoned', 'spot', { cordoned: true }),
  node('broken', 'spot', { ready: false }),
);
const candidates = (...all: readonly [string, PodOptions][]) => {
  const workload = deployment(all.length);
  const pods = all.map(([name, options]) => pod(name, { numbers, ...options }));
  return candidatesOf(membersOf(workload, pods, nodes), {
    workload,
    numbers,
    from: 'spot',
    minPodAgeMs: 60_000,
    nowMs: NOON,
  });
};
const order = (...all: readonly [string, PodOptions][]) =>
  candidates(...all).eligible.map((one) => one.pod.name);

describe('the order of candidates', () => {
  it('is highest slot first', () => {
    expect(order(['a', { rank: 1 }], ['b', { rank: 9 }], ['c', { rank: 4 }])).toEqual(['b', 'c', 'a']);
  });

  it('puts unready pods before doomed ones, and those before all others', () => {
    expect(
      order(
        ['high', { rank: 9 }],
        ['interrupted', { rank: 1, nodeName: 'leaving' }],
        ['cordoned', { rank: 2, nodeName: 'cordoned' }],
        ['lost', { rank: 3, nodeName: 'broken' }],
        ['unready', { rank: 0, ready: false }],
      ),
    ).toEqual(['unready', 'lost', 'cordoned', 'interrupted', 'high']);
  });

  it('breaks a tie of costs by the rank, then by youth, then by the UID', () => {
    const cost = { annotations: { [foreignKeys.podDeletionCost]: '5' } };
    expect(order(['a', { rank: 1, ...cost }], ['b', { rank: 2, ...cost }])).toEqual(['b', 'a']);
    expect(order(['a', { rank: null, ...cost }], ['b', { rank: 2, ...cost }])).toEqual(['a', 'b']);
    const same = { rank: 1, ...cost };
    expect(order(['old', same], ['young', { ...same, createdAtMs: NOON - 100_000 }])).toEqual([
      'young',
      'old',
    ]);
    expect(order(['b', same], ['a', same])).toEqual(['a', 'b']);
  });

  it('goes by costs as the ReplicaSet controller reads them', () => {
    const costing = (cost: string) => ({ rank: 0, annotations: { [foreignKeys.podDeletionCost]: cost } });
    expect(order(['a', costing('-3')], ['b', costing('many')], ['c', costing('+2')])).toEqual([
      'a',
      'b',
      'c',
    ]);
  });
});

describe('a pod of the surplus type', () => {
  it.each<[string, string, PodOptions, number | null]>([
    ['people say so', 'DoNotMove', { annotations: { [podKeys.doNotMove]: 'true' } }, null],
    [
      'Karpenter is told so',
      'DoNotDisrupt',
      { annotations: { [foreignKeys.karpenterDoNotDisrupt]: 'true' } },
      null,
    ],
    [
      "Karpenter is told so for longer than the pod's age",
      'DoNotDisrupt',
      { annotations: { [foreignKeys.karpenterDoNotDisrupt]: '2h' } },
      NOON + 3_600_000,
    ],
    [
      'Karpenter is told so and the pod has not started',
      'DoNotDisrupt',
      { startedAtMs: null, annotations: { [foreignKeys.karpenterDoNotDisrupt]: '2h' } },
      null,
    ],
    [
      'the autoscaler is told so',
      'NotSafeToEvict',
      { annotations: { [foreignKeys.safeToEvict]: 'false' } },
      null,
    ],
    ['it mirrors a static pod', 'MirrorPod', { annotations: { [foreignKeys.mirror]: 'x' } }, null],
    ['it is system-critical', 'SystemCritical', { priority: 2_000_000_000 }, null],
    ['its node is of no known type', 'UnknownNode', { nodeName: 'plain' }, null],
    ['its node is not known', 'UnknownNode', { nodeName: 'new' }, null],
    ['its volume could not be read', 'VolumeUnknown', { volumes: { kind: 'unknown' } }, null],
    ['it is too young', 'TooYoung', { createdAtMs: NOON - 59_999 }, NOON + 1],
  ])('stays when %s', (_, reason, options, untilMs) => {
    expect(candidates(['p', options])).toEqual({ eligible: [], exclusions: [{ pod: 'p', reason, untilMs }] });
  });

  it.each<[string, PodOptions]>([
    ['the duration for Karpenter is over', { annotations: { [foreignKeys.karpenterDoNotDisrupt]: '1h' } }],
    ['Karpenter may disrupt it', { annotations: { [foreignKeys.karpenterDoNotDisrupt]: 'false' } }],
    ['it may be moved', { annotations: { [podKeys.doNotMove]: 'false' } }],
    ['it is safe to evict', { annotations: { [foreignKeys.safeToEvict]: 'true' } }],
    ['its priority is high but its own', { priority: 1_999_999_999 }],
    ['it is just old enough', { createdAtMs: NOON - 60_000 }],
    ['it is young but not ready', { createdAtMs: NOON - 1_000, ready: false }],
  ])('may go when %s', (_, options) => {
    expect(order(['p', options])).toEqual(['p']);
  });

  it('is of that type by its node', () => {
    expect(candidates(['p', { nodeName: 'od-1' }])).toEqual({ eligible: [], exclusions: [] });
    expect(order(['p', { type: 'on-demand', nodeName: 'spot-1' }])).toEqual(['p']);
  });
});
