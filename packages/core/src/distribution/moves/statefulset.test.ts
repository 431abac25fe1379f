import { describe, expect, it } from '@jest/globals';
import { podKeys } from '../../policy/keys.ts';
import { reasonOf } from '../../testing/drifting.ts';
import {
  annotated,
  bothNodes,
  altered,
  node,
  nodesOf,
  NOON,
  ordinalPod,
  policy,
  quiet,
  snapshot,
  statefulSet,
} from '../../testing/rebalance.ts';
import { decide } from './decide.ts';
import type { DroughtState, RebalanceSnapshot } from './snapshot.ts';

describe('a StatefulSet', () => {
  // Its slots are o s s s o.
  const sixty = policy(60, 1);
  const set = (types: string, change: Partial<RebalanceSnapshot> = {}): RebalanceSnapshot => {
    const members = Array.from(types, (letter, ordinal) =>
      ordinalPod(ordinal, letter === 's' ? 'spot' : 'on-demand'),
    );
    return snapshot({ policy: sixty, pods: members, workload: statefulSet(members.length), ...change });
  };
  const victim = (one: RebalanceSnapshot) => {
    const { verdict } = decide(one, NOON);
    return verdict.kind === 'move' ? verdict.move.pod.name : null;
  };

  it('moves only pods that come back on the other type', () => {
    expect(victim(set('sssso'))).toBe('web-0');
    expect(victim(set('ossss'))).toBe('web-4');
    expect(victim(set('ooooo'))).toBe('web-3');
  });

  it('leaves mismatched ordinals above the floor alone while the share is right, and says what a scale-down finds', () => {
    const trace = decide(set('oosss'), NOON);
    expect(trace).toMatchObject({
      reason: 'Balanced',
      standing: { ordinals: { belowFloor: 0, worst: { replicas: 2, off: 1 } } },
    });
    expect(decide(set('ossso'), NOON).standing?.ordinals).toEqual({ belowFloor: 0, worst: null });
  });

  it('moves the ordinals that a scale-down needs for the floor, though the share is right', () => {
    const trace = decide(set('ssoso'), NOON);
    expect(trace).toMatchObject({
      reason: 'FloorOrdinal',
      verdict: { move: { pod: { name: 'web-0' }, from: 'spot', to: 'on-demand' } },
      standing: { drift: 0, ordinals: { belowFloor: 1 } },
    });
    const ordered = statefulSet(5, { podManagement: 'OrderedReady' });
    expect(victim(set('sssoo', { policy: policy(60, 3), workload: ordered }))).toBe('web-2');
  });

  it('repairs a drift where the ordinals below the floor must stay, and else says why they do', () => {
    const kept = (types: string) => {
      const all = set(types);
      const pods = all.pods.map((one, ordinal) =>
        ordinal === 0 ? annotated(one, { [podKeys.doNotMove]: 'true' }) : one,
      );
      return { ...all, pods };
    };
    expect(victim(kept('sssss'))).toBe('web-4');
    expect(victim(kept('soooo'))).toBe('web-3');
    expect(reasonOf(kept('ssoso'))).toBe('NoCandidate');
  });

  it('moves the ordinals below the floor in a drought, too', () => {
    const since = { sinceMs: NOON, openedAtMs: NOON, backoffMs: 60_000, early: false };
    const drought: DroughtState = { ...quiet, breaker: { state: 'open', ...since }, recorded: true };
    expect(reasonOf(set('soooo', { drought }))).toBe('FloorOrdinal');
    expect(reasonOf(set('ooooo', { drought }))).toBe('InDrought');
  });

  it('counts ordinals from the first', () => {
    const shifted = (types: string) => {
      const pods = Array.from(types, (letter, index) =>
        ordinalPod(3 + index, letter === 's' ? 'spot' : 'on-demand'),
      );
      return set('', { pods, workload: statefulSet(5, { firstOrdinal: 3 }) });
    };
    expect(victim(shifted('sssss'))).toBe('web-3');
    expect(victim(shifted('ossss'))).toBe('web-7');
  });

  it('moves the highest ordinal when OrderedReady, and only while all others are Ready', () => {
    const ordered = statefulSet(5, { podManagement: 'OrderedReady' });
    expect(victim(set('ooooo', { workload: ordered }))).toBe('web-3');
    const broken = set('ooooo', { workload: ordered });
    const unready = (...ordinals: number[]) => ({
      ...broken,
      pods: broken.pods.map((one, ordinal) =>
        ordinals.includes(ordinal) ? altered(one, { ready: false }) : one,
      ),
    });
    expect(decide(unready(0), NOON)).toMatchObject({ reason: 'OthersNotReady', facts: { pods: ['web-0'] } });
    expect(victim(unready(1))).toBe('web-1');
    expect(reasonOf(unready(1, 2))).toBe('OthersNotReady');
  });

  it('takes the unready one first when Parallel', () => {
    const parallel = set('ooooo');
    const some = parallel.pods.map((one, ordinal) => (ordinal === 1 ? altered(one, { ready: false }) : one));
    expect(victim({ ...parallel, pods: some })).toBe('web-1');
  });

  it('takes a doomed one first when Parallel, and not when OrderedReady', () => {
    const nodes = nodesOf(...bothNodes.values(), node('leaving', 'on-demand', { cordoned: true }));
    const doomed = Array.from('ooooo', (_, ordinal) =>
      ordinalPod(ordinal, 'on-demand', ordinal === 1 ? { nodeName: 'leaving' } : {}),
    );
    expect(victim(set('', { pods: doomed, nodes, workload: statefulSet(5) }))).toBe('web-1');
    const ordered = statefulSet(5, { podManagement: 'OrderedReady' });
    expect(victim(set('', { pods: doomed, nodes, workload: ordered }))).toBe('web-3');
  });

  it('counts the pods below the partition, whatever the first ordinal', () => {
    const rolling = (partition: number, updatedReplicas: number) =>
      reasonOf(
        set('sssss', {
          workload: statefulSet(5, {
            updateRevision: 'b',
            updatedReplicas,
            firstOrdinal: 3,
            strategy: { type: 'RollingUpdate', partition },
          }),
        }),
      );
    expect(rolling(2, 2)).toBe('RolloutInProgress');
    expect(rolling(2, 3)).not.toBe('RolloutInProgress');
    expect(rolling(5, 0)).not.toBe('RolloutInProgress');
  });

  it('is in a rollout until all beyond the partition are updated', () => {
    const rolling = (partition: number, updatedReplicas: number) =>
      reasonOf(
        set('sssss', {
          workload: statefulSet(5, {
            updateRevision: 'b',
            updatedReplicas,
            strategy: { type: 'RollingUpdate', partition },
          }),
        }),
      );
    expect(rolling(0, 4)).toBe('RolloutInProgress');
    expect(rolling(0, 5)).not.toBe('RolloutInProgress');
    expect(rolling(3, 2)).not.toBe('RolloutInProgress');
    // A pod below the partition is updated already and would come back as it was before.
    expect(rolling(3, 3)).toBe('RolloutInProgress');
    expect(rolling(9, 0)).not.toBe('RolloutInProgress');
  });

  it('is not updated by our hand when it asked for OnDelete', () => {
    const workload = statefulSet(5, {
      updateRevision: 'b',
      updatedReplicas: 0,
      strategy: { type: 'OnDelete' },
    });
    expect(reasonOf(set('sssss', { workload }))).toBe('RolloutInProgress');
  });

  it('stays where its volume is', () => {
    const zonal = (name: string, type: 'spot' | 'on-demand', zone: string) =>
      node(name, type, { labels: { 'topology.kubernetes.io/zone': zone } });
    const nodes = nodesOf(zonal('spot-1', 'spot', 'a'), zonal('od-1', 'on-demand', 'b'));
    const inZone = (zone: string) => [
      { matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In' as const, values: [zone] }] },
    ];
    const bound = (zone: string) =>
      set('sssso', {
        nodes,
        pods: Array.from('sssso', (letter, ordinal) =>
          ordinalPod(ordinal, letter === 's' ? 'spot' : 'on-demand', {
            volumes: { kind: 'bound', affinities: [inZone(zone)] },
          }),
        ),
      });
    expect(victim(bound('b'))).toBe('web-0');
    const trace = decide(bound('a'), NOON);
    expect(trace.reason === 'NoCandidate' && trace.facts.exclusions).toContainEqual({
      pod: 'web-0',
      reason: 'VolumeUnreachable',
      untilMs: null,
    });
  });

  it('is corrected in its annotation only', () => {
    const members = Array.from('ossos', (letter, ordinal) =>
      ordinalPod(ordinal, letter === 's' ? 'spot' : 'on-demand'),
    );
    const moved = members.map((one, ordinal) => (ordinal === 1 ? altered(one, { nodeName: 'od-1' }) : one));
    const { verdict } = decide(set('', { pods: moved, workload: statefulSet(5) }), NOON);
    expect(verdict).toEqual({
      kind: 'correct',
      corrections: [
        { pod: expect.objectContaining({ name: 'web-1' }), type: 'on-demand', rank: null, cost: null },
      ],
    });
  });
});
