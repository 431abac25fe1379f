import { describe, expect, it } from '@jest/globals';
import { foreignKeys, podKeys } from '../../policy/keys.ts';
import { numbers, withPods, reasonOf } from '../../testing/drifting.ts';
import {
  bothNodes,
  altered,
  annotated,
  deploymentOf,
  node,
  nodesOf,
  NOON,
  pod,
  podsOf,
  policy,
  settings,
  snapshot,
} from '../../testing/rebalance.ts';
import { decide } from './decide.ts';

describe('a pod whose type is not certain', () => {
  it('is no victim on a node without a recognised label, but counts', () => {
    const nodes = nodesOf(...bothNodes.values(), node('plain', 'unknown'));
    const trace = decide(
      withPods((one) => (one.name === 's7' ? { nodeName: 'plain' } : {}), { nodes }),
      NOON,
    );
    expect(trace.standing).toMatchObject({ counts: { spot: 8, onDemand: 2 }, onUnknownNodes: 1, drift: 1 });
    expect(trace.verdict.kind === 'move' && trace.verdict.move.pod.name).toBe('s6');
  });

  it('moves nothing that would be wrong if the pod turned out to be of the other type', () => {
    const untyped = { type: null, phase: 'Pending', ready: false, createdAtMs: NOON - 10_000 } as const;
    const all = [...podsOf(6, 3, numbers), pod('new', untyped)];
    const trace = decide(snapshot({ pods: all }), NOON);
    expect(trace.standing).toMatchObject({ untyped: 1, target: 7, drift: 0 });
    expect(trace.reason).toBe('Balanced');
  });

  it('gets its annotation corrected before anything is counted', () => {
    // Seven and three by the annotations; one of the seven runs on on-demand.
    const all = podsOf(7, 3, numbers).map((one) =>
      one.name === 's2' ? altered(one, { nodeName: 'od-1' }) : one,
    );
    expect(decide(snapshot({ pods: all }), NOON)).toMatchObject({
      verdict: {
        kind: 'correct',
        corrections: [{ pod: { name: 's2' }, type: 'on-demand', rank: 3, cost: -13 }],
      },
      reason: 'NodeDiffers',
    });
  });

  it('is the first to be moved once it is corrected, though a rank among the others is free', () => {
    const ranks = [0, 1, 3];
    const all = [
      ...podsOf(7, 0, numbers).map((one) => (one.name === 's2' ? altered(one, { nodeName: 'od-1' }) : one)),
      ...ranks.map((rank) => pod(`o${rank}`, { type: 'on-demand', rank, numbers })),
    ];
    const { verdict } = decide(snapshot({ pods: all }), NOON);
    if (verdict.kind !== 'correct') throw new Error(verdict.kind);
    const corrected = all.map((one) => {
      const change = verdict.corrections.find((correction) => correction.pod.uid === one.uid);
      if (change === undefined) return one;
      return annotated(one, {
        [podKeys.capacityType]: change.type,
        [podKeys.rank]: String(change.rank),
        [foreignKeys.podDeletionCost]: String(change.cost),
      });
    });
    const next = decide(snapshot({ pods: corrected }), NOON).verdict;
    expect(next.kind === 'move' && next.move.pod.name).toBe('s2');
  });

  it('gets corrected while moves are held, but not in read-only mode', () => {
    const all = podsOf(7, 3, numbers).map((one) =>
      one.name === 's2' ? altered(one, { nodeName: 'od-1' }) : one,
    );
    const closed = { pods: all, policy: policy(70, 1, { paused: true }) };
    expect(reasonOf(snapshot(closed))).toBe('NodeDiffers');
    expect(reasonOf(snapshot({ ...closed, settings: { ...settings, readOnly: true } }))).toBe('ReadOnly');
  });

  it('is left as it is when the workload is being deleted', () => {
    const all = podsOf(7, 3, numbers).map((one) =>
      one.name === 's2' ? altered(one, { nodeName: 'od-1' }) : one,
    );
    const workload = deploymentOf(all, { deleting: true });
    expect(reasonOf(snapshot({ pods: all, workload }))).toBe('WorkloadDeleted');
  });

  it('is not corrected on a node that says nothing, nor before it has a node', () => {
    const nodes = nodesOf(...bothNodes.values(), node('plain', 'unknown'));
    const all = podsOf(7, 3, numbers).map((one) =>
      one.name === 's2' ? altered(one, { nodeName: 'plain' }) : one,
    );
    expect(reasonOf(snapshot({ pods: all, nodes }))).toBe('Balanced');
  });

  it('gives two corrected pods two ranks', () => {
    const all = podsOf(7, 3, numbers).map((one) =>
      one.name === 's2' || one.name === 's4' ? altered(one, { nodeName: 'od-1' }) : one,
    );
    const { verdict } = decide(snapshot({ pods: all }), NOON);
    expect(verdict.kind === 'correct' && verdict.corrections.map(({ rank }) => rank)).toEqual([3, 4]);
  });
});
