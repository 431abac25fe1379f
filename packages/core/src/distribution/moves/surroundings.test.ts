import { describe, expect, it } from '@jest/globals';
import { podKeys } from '../../policy/keys.ts';
import { numbers, pods, drifting, nightly, withPods, reasonOf } from '../../testing/drifting.ts';
import {
  bothNodes,
  altered,
  annotated,
  deploymentOf,
  node,
  nodesOf,
  NOON,
  ordinalPod,
  pdb,
  pod,
  podsOf,
  policy,
  revision,
  settings,
  snapshot,
  statefulSet,
  template,
  typeKey,
} from '../../testing/rebalance.ts';
import { decide } from './decide.ts';
import type { RebalanceSnapshot } from './snapshot.ts';

describe('what a pod or its surroundings hold', () => {
  const pinnedTo = (value: string) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: typeKey, operator: 'In' as const, values: [value] }] },
          ],
        },
      },
    },
  });
  const pinned = { ...template, spec: pinnedTo('spot') };
  const ledger = { spot: 8, onDemand: 2 };

  it('is reported, not repaired, when the pods themselves allow one type only', () => {
    const workload = deploymentOf(pods, { revisions: [revision(10, { ledger, template: pinned })] });
    expect(decide(drifting({ workload }), NOON)).toMatchObject({
      reason: 'PlacementConflict',
      facts: { to: 'on-demand' },
      standing: { drift: 1 },
    });
  });

  describe('and leave neither type', () => {
    const neither = { ...template, spec: pinnedTo('reserved') };
    const madeOf = (all: typeof pods, made: typeof template): Partial<RebalanceSnapshot> => ({
      pods: all,
      workload: deploymentOf(all, { revisions: [revision(10, { ledger, template: made })] }),
      nodes: nodesOf(...bothNodes.values(), node('reserved-1', 'unknown')),
    });
    // As admission leaves them.
    const unsteered = podsOf(10, 0, numbers).map((one) =>
      pod(one.name, { type: null, nodeName: 'reserved-1' }),
    );

    it('is reported although nothing drifts, and whatever holds moves', () => {
      expect(decide(snapshot(madeOf(unsteered, neither)), NOON)).toMatchObject({
        verdict: { kind: 'nothing' },
        reason: 'PlacementConflict',
        facts: { to: null },
        standing: { drift: 0, untyped: 10 },
      });
      const closed = policy(70, 1, { window: nightly(2) });
      expect(reasonOf(snapshot({ ...madeOf(unsteered, neither), policy: closed }))).toBe('PlacementConflict');
      const set = statefulSet(1, { template: neither });
      const one = [ordinalPod(0, 'spot', { type: null, nodeName: 'reserved-1' })];
      expect(reasonOf(snapshot({ pods: one, workload: set }))).toBe('PlacementConflict');
    });

    it('is reported when they run on nodes of a type by chance', () => {
      const byChance = unsteered.map((one, at) => altered(one, { nodeName: at < 8 ? 'spot-1' : 'od-1' }));
      expect(decide(snapshot(madeOf(byChance, neither)), NOON)).toMatchObject({
        reason: 'PlacementConflict',
        facts: { to: null },
        standing: { drift: 1 },
      });
    });

    it('is reported of either template in a rollout', () => {
      const revisions = [revision(9), revision(1, { uid: 'rs-2', template: neither })];
      const rollout = deploymentOf(unsteered, { revisions });
      expect(reasonOf(snapshot({ ...madeOf(unsteered, neither), workload: rollout }))).toBe(
        'PlacementConflict',
      );
    });

    it('is no matter of who leaves one type and has as many of each as wanted', () => {
      const wanted = podsOf(10, 0, { spotPercentage: 100, minOnDemand: 0 });
      expect(reasonOf(snapshot({ ...madeOf(wanted, pinned), policy: policy(100, 0) }))).toBe('Balanced');
    });
  });

  it('counts on the place that the pod itself leaves', () => {
    const zone = 'topology.kubernetes.io/zone';
    const zonal = (name: string, type: 'spot' | 'on-demand', value: string) =>
      node(name, type, { labels: { [zone]: value } });
    const apart = {
      ...template,
      spec: {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: zone, labelSelector: { matchLabels: { app: 'web' } } },
            ],
          },
        },
      },
    };
    // One pod in each of two zones; only the zone of the first has an on-demand node.
    const nodes = nodesOf(
      zonal('spot-1', 'spot', 'a'),
      zonal('spot-2', 'spot', 'b'),
      zonal('od-1', 'on-demand', 'a'),
    );
    const two = podsOf(2, 0, numbers).map((one, index) => altered(one, { nodeName: `spot-${index + 1}` }));
    const revisions = [revision(2, { ledger: { spot: 2, onDemand: 0 }, template: apart })];
    const one = snapshot({
      pods: two,
      nodes,
      policy: policy(50, 1),
      workload: deploymentOf(two, { revisions }),
    });
    const { verdict } = decide(one, NOON);
    expect(verdict.kind === 'move' && verdict.move.pod.name).toBe('s0');
    const elsewhere = nodesOf(
      ...nodes.values(),
      zonal('od-1', 'on-demand', 'b'),
      zonal('od-2', 'on-demand', 'b'),
    );
    const moved = decide({ ...one, nodes: elsewhere }, NOON).verdict;
    expect(moved.kind === 'move' && moved.move.pod.name).toBe('s1');
  });

  it('evicts nothing toward capacity that is not there', () => {
    expect(decide(drifting({ nodes: nodesOf(node('spot-1', 'spot')) }), NOON)).toMatchObject({
      verdict: { kind: 'nothing' },
      reason: 'NoCapacity',
      facts: { to: 'on-demand', readyNodes: 0, misfits: {} },
    });
  });

  it('has no placeholder prove capacity while the move would wait for a budget', () => {
    const none = { spot: { kind: 'none' }, 'on-demand': { kind: 'none' } } as const;
    const nodes = nodesOf(node('spot-1', 'spot'));
    const one = drifting({ nodes, placeholders: none });
    expect(decide(one, NOON).verdict.kind).toBe('prove');
    for (const change of [{ spent: true }, { nodes: new Map([['spot-1', 1]]) }]) {
      const spent = { ...one, budgets: { ...one.budgets, ...change } };
      expect(decide(spent, NOON)).toMatchObject({ verdict: { kind: 'nothing' }, reason: 'NoCapacity' });
    }
  });

  it('moves nothing that no one can prove to find room', () => {
    const social = {
      ...template,
      spec: {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'db' } } },
            ],
          },
        },
      },
    };
    const workload = deploymentOf(pods, { revisions: [revision(10, { ledger, template: social })] });
    expect(decide(drifting({ workload }), NOON)).toMatchObject({
      reason: 'NotProvable',
      facts: { constraint: 'required podAffinity' },
    });
  });

  it('leaves a single replica alone unless the configuration allows it', () => {
    const one = [pod('s0', { numbers })];
    const single = snapshot({ pods: one, policy: policy(0, 1), workload: deploymentOf(one) });
    expect(reasonOf(single)).toBe('SingleReplica');
    expect(reasonOf({ ...single, settings: { ...settings, allowSingleReplica: true } })).toBe('FloorShort');
    const guarded = { ...single, settings: { ...settings, allowSingleReplica: true } };
    const strict = pdb({
      maxUnavailable: null,
      minAvailable: 1,
      disruptionsAllowed: 0,
      currentHealthy: 1,
      expectedPods: 1,
    });
    expect(reasonOf({ ...guarded, pdbs: [strict] })).toBe('PdbBlocks');
  });

  it('does not move the last Ready pod of three', () => {
    const three = podsOf(3, 0, numbers).map((one, index) =>
      index === 0 ? one : altered(one, { ready: false }),
    );
    const last = snapshot({
      pods: three.map((one) => (one.ready ? one : annotated(one, { [podKeys.doNotMove]: 'true' }))),
      policy: policy(0, 0),
      workload: deploymentOf(three),
    });
    expect(decide(last, NOON)).toMatchObject({ reason: 'NotAvailable', facts: { available: 1, needed: 2 } });
  });

  it('moves the crash-looping pods beside the last Ready one', () => {
    const three = podsOf(3, 0, numbers).map((one, index) =>
      index === 0 ? one : altered(one, { ready: false }),
    );
    const { verdict } = decide(
      snapshot({ pods: three, policy: policy(0, 0), workload: deploymentOf(three) }),
      NOON,
    );
    expect(verdict.kind === 'move' && verdict.move.pod.name).toBe('s2');
  });

  it('believes the pods when the status is behind them', () => {
    const some = withPods((one) => (one.name.startsWith('o') ? { ready: false } : {}));
    expect(
      reasonOf({
        ...some,
        workload: deploymentOf(pods, { availableReplicas: 10, strategy: { type: 'Recreate' } }),
      }),
    ).toBe('NotAvailable');
  });

  it('keeps the floor on nodes, not only in counts', () => {
    const waiting = { phase: 'Pending', ready: false, nodeName: null } as const;
    const all = podsOf(0, 3, numbers).map((one) =>
      one.name === 'o0' ? one : altered(annotated(one, { [podKeys.doNotMove]: 'true' }), waiting),
    );
    const trace = decide(
      snapshot({
        pods: all,
        policy: policy(70, 1),
        workload: deploymentOf(all, {
          availableReplicas: 3,
          strategy: { type: 'RollingUpdate', maxUnavailable: '100%' },
        }),
      }),
      NOON,
    );
    expect(trace).toMatchObject({ reason: 'FloorAtRisk', facts: { scheduled: 1, floor: 1 } });
  });

  it('waits for the first pod to be old enough', () => {
    const young = withPods((one) => ({ createdAtMs: NOON - (one.name === 's3' ? 40_000 : 20_000) }));
    const trace = decide(young, NOON);
    expect(trace.reason).toBe('NoCandidate');
    expect(trace.verdict).toEqual({ kind: 'wait', untilMs: NOON + 20_000 });
  });

  it('names what holds each pod when none may be moved', () => {
    const held = withPods((one) => ({ annotations: { ...one.annotations, [podKeys.doNotMove]: 'true' } }));
    const trace = decide(held, NOON);
    expect(trace.verdict).toEqual({ kind: 'nothing' });
    expect(trace.reason === 'NoCandidate' && trace.facts.exclusions[0]).toEqual({
      pod: 's0',
      reason: 'DoNotMove',
      untilMs: null,
    });
  });

  it('stops at a PDB without budget, for good if it can never have one', () => {
    const spent = pdb({ disruptionsAllowed: 0 });
    expect(decide(drifting({ pdbs: [spent] }), NOON)).toMatchObject({
      verdict: { kind: 'wait', untilMs: NOON + 10_000 },
      reason: 'PdbBlocks',
      facts: { pod: 's7', pdb: 'web', healthy: 10, needed: 9, never: false },
    });
    const never = pdb({ maxUnavailable: null, minAvailable: 10, disruptionsAllowed: 0 });
    expect(decide(drifting({ pdbs: [never] }), NOON)).toMatchObject({
      verdict: { kind: 'nothing' },
      facts: { never: true },
    });
  });

  it('stops at two PDBs, and at one whose status is behind', () => {
    expect(decide(drifting({ pdbs: [pdb(), pdb({ name: 'two' })] }), NOON)).toMatchObject({
      verdict: { kind: 'nothing' },
      reason: 'TwoPdbs',
      facts: { pdbs: ['web', 'two'] },
    });
    expect(reasonOf(drifting({ pdbs: [pdb({ generation: 2 })] }))).toBe('PdbBehind');
  });

  it('takes the next pod when a PDB holds only the first', () => {
    const labelled = withPods((one) => (one.name === 's7' ? { labels: { app: 'web', canary: 'true' } } : {}));
    const canary = pdb({ selector: { matchLabels: { canary: 'true' } }, disruptionsAllowed: 0 });
    const { verdict } = decide({ ...labelled, pdbs: [canary] }, NOON);
    expect(verdict.kind === 'move' && verdict.move.pod.name).toBe('s6');
  });

  it('takes a pod of another node when the budget of the first node is spent', () => {
    const nodes = nodesOf(...bothNodes.values(), node('spot-2', 'spot'));
    const spread = withPods((one) => (one.name === 's2' ? { nodeName: 'spot-2' } : {}), { nodes });
    const budgets = { ...spread.budgets, nodes: new Map([['spot-1', 1]]) };
    const { verdict } = decide({ ...spread, budgets }, NOON);
    expect(verdict.kind === 'move' && verdict.move.pod.name).toBe('s2');
    // Without another one it is asked for, to wait for its turn.
    const only = decide(drifting({ budgets }), NOON).verdict;
    expect(only.kind === 'move' && only.move.node).toBe('spot-1');
  });

  it('counts pods by owner and nothing else', () => {
    const foreign = [
      pod('stranger', { controller: { kind: 'ReplicaSet', uid: 'rs-of-another' } }),
      pod('bare', { controller: null }),
      pod('daemon', { controller: { kind: 'DaemonSet', uid: 'ds' } }),
      pod('leaving', { terminating: true }),
      pod('done', { phase: 'Succeeded' }),
      pod('failed', { phase: 'Failed' }),
    ];
    const trace = decide(drifting({ pods: [...foreign, ...pods], workload: deploymentOf(pods) }), NOON);
    expect(trace.standing?.counts).toEqual({ spot: 8, onDemand: 2 });
    expect(trace.verdict.kind === 'move' && trace.verdict.move.pod.name).toBe('s7');
  });
});
