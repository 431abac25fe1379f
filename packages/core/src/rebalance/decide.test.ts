import { describe, expect, it } from '@jest/globals';
import { podKeys } from '../policy/keys.ts';
import { parseSchedule } from '../policy/schedule.ts';
import {
  altered,
  annotated,
  bothNodes,
  deployment,
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
} from '../testing/rebalance.ts';
import { decide } from './decide.ts';
import type { WorkloadPod } from './pod.ts';
import type { RebalanceSnapshot } from './snapshot.ts';
import type { DeploymentView } from './workload.ts';

const numbers = { spotPercentage: 70, minOnDemand: 1 };
/** Ten pods, one spot pod too many. */
const pods = podsOf(8, 2, numbers);
const drifting = (change: Partial<RebalanceSnapshot> = {}): RebalanceSnapshot =>
  snapshot({ pods, ...change });
const withWorkload = (change: Partial<DeploymentView>): RebalanceSnapshot =>
  drifting({ workload: deploymentOf(pods, change) });
const withPods = (
  change: (one: WorkloadPod) => Partial<WorkloadPod>,
  rest: Partial<RebalanceSnapshot> = {},
): RebalanceSnapshot => {
  const changed = pods.map((one) => altered(one, change(one)));
  return snapshot({ pods: changed, workload: deploymentOf(changed), ...rest });
};
const nightly = (hour: number) => {
  const parsed = parseSchedule(`0 ${hour} * * *`);
  if (!parsed.ok) throw new Error(parsed.expected);
  return { schedule: parsed.value, durationMs: 3_600_000 };
};
const reasonOf = (one: RebalanceSnapshot): string => decide(one, NOON).reason;

describe('a workload with a spot pod too many', () => {
  it('moves the highest slot when no gate is closed', () => {
    expect(decide(drifting(), NOON)).toEqual({
      verdict: {
        kind: 'move',
        move: {
          pod: { name: 's7', uid: 'uid-s7', resourceVersion: '1' },
          from: 'spot',
          to: 'on-demand',
          node: 'spot-1',
          evidence: 'od-1',
          pdb: null,
          trial: false,
        },
      },
      reason: 'SpotSurplus',
      facts: {
        pod: 's7',
        from: 'spot',
        to: 'on-demand',
        node: 'spot-1',
        evidence: 'od-1',
        doom: null,
        ready: true,
      },
      standing: {
        numbers,
        replicas: 10,
        counts: { spot: 8, onDemand: 2 },
        untyped: 0,
        onUnknownNodes: 0,
        target: 7,
        drift: 1,
      },
    });
  });

  it('says so when it is the floor that is short', () => {
    const all = podsOf(4, 0, numbers);
    const trace = decide(snapshot({ pods: all, policy: policy(100, 2), workload: deploymentOf(all) }), NOON);
    expect(trace.reason).toBe('FloorShort');
  });

  it('names the PDB that selects the pod', () => {
    const { verdict } = decide(drifting({ pdbs: [pdb(), pdb({ name: 'other', selector: null })] }), NOON);
    expect(verdict.kind === 'move' && verdict.move.pdb).toBe('web');
  });
});

describe('a workload with an on-demand pod too many', () => {
  it('moves it to spot', () => {
    const all = podsOf(6, 4, numbers);
    const { verdict, reason } = decide(snapshot({ pods: all }), NOON);
    expect(reason).toBe('OnDemandSurplus');
    expect(verdict.kind === 'move' && verdict.move).toMatchObject({
      pod: { name: 'o3' },
      from: 'on-demand',
      to: 'spot',
    });
  });
});

/** Each closes one gate; in the order in which they are reported. */
const closing: readonly (readonly [string, Partial<RebalanceSnapshot>])[] = [
  ['Unmanaged', { managed: { managed: false, reason: 'NotLabelled' } }],
  ['NoPolicy', { policy: { kind: 'none', problems: [] } }],
  ['InvalidPolicy', { policy: { kind: 'frozen', numbers, problems: [] } }],
  ['ReadOnly', { settings: { ...settings, readOnly: true } }],
  ['Paused', { policy: policy(70, 1, { paused: true }) }],
  ['LedgerUnreachable', { ledger: { kind: 'unreachable', code: 'LEDGER_TIMEOUT' } }],
  ['WebhookNotServing', { webhook: { kind: 'notServing', detail: 'no ready endpoint' } }],
  ['WebhookBypassed', { webhook: { kind: 'bypassed', lastTrialAtMs: NOON - 599_999 } }],
  ['WorkloadDeleted', { workload: deploymentOf(pods, { deleting: true }) }],
  ['RolloutPaused', { workload: deploymentOf(pods, { paused: true }) }],
  ['GenerationBehind', { workload: deploymentOf(pods, { observedGeneration: 2 }) }],
  ['RolloutInProgress', { workload: deploymentOf(pods, { updatedReplicas: 9 }) }],
  [
    'MoveInFlight',
    { budgets: { cluster: 1, namespace: 1, workload: 1, nodes: new Map(), begunAtMs: [NOON - 5_000] } },
  ],
  ['Cooldown', { history: { from: 'spot', to: 'on-demand', endedAtMs: NOON - 9_999, failures: 0 } }],
  ['WindowClosed', { policy: policy(70, 1, { window: nightly(2) }) }],
  ['Balanced', { policy: policy(80, 1), pods: podsOf(8, 2, { spotPercentage: 80, minOnDemand: 1 }) }],
  ['Settling', { workload: deploymentOf(pods, { policyChangedAtMs: NOON - 2_999 }) }],
  ['PodsMissing', { workload: deployment(11, { revisions: [revision(11)] }) }],
  ['LedgerDiffers', { workload: deployment(10) }],
];

/** All of what closes these gates at once, a workload's parts joined. */
function allClosed(gates: typeof closing): RebalanceSnapshot {
  const merged: Partial<RebalanceSnapshot> = {};
  const workload: Partial<DeploymentView> = {};
  const steady = new Map(
    Object.entries(deploymentOf(pods)).map(([key, value]) => [key, JSON.stringify(value)]),
  );
  // The first goes on top, since a policy or a webhook can be wrong in one way only.
  for (const [, change] of gates.toReversed()) {
    const parts = Object.entries(change.workload ?? {});
    const changed = parts.filter(([key, value]) => JSON.stringify(value) !== steady.get(key));
    Object.assign(workload, Object.fromEntries(changed));
    Object.assign(merged, change);
  }
  return drifting({ ...merged, workload: deploymentOf(pods, workload) });
}

describe('a gate', () => {
  it.each(closing)('%s holds a move and is the reason', (reason, change) => {
    const trace = decide(drifting(change), NOON);
    expect(trace.reason).toBe(reason);
    expect(['nothing', 'wait']).toContain(trace.verdict.kind);
  });

  it.each(closing.map(([reason], index) => [reason, index] as const))(
    '%s is reported before all that come after it',
    (reason, index) => {
      expect(reasonOf(allClosed(closing.slice(index)))).toBe(reason);
    },
  );

  it('that is closed for a known time says when to look again', () => {
    const until = (change: Partial<RebalanceSnapshot>) => decide(drifting(change), NOON).verdict;
    expect(until({ webhook: { kind: 'bypassed', lastTrialAtMs: NOON - 1_000 } })).toEqual({
      kind: 'wait',
      untilMs: NOON + 599_000,
    });
    expect(
      until({ history: { from: 'spot', to: 'on-demand', endedAtMs: NOON - 4_000, failures: 2 } }),
    ).toEqual({ kind: 'wait', untilMs: NOON + 36_000 });
    expect(until({ policy: policy(70, 1, { window: nightly(13) }) })).toEqual({
      kind: 'wait',
      untilMs: NOON + 3_600_000,
    });
    expect(until({ workload: deploymentOf(pods, { podGoneAtMs: NOON - 1_000 }) })).toEqual({
      kind: 'wait',
      untilMs: NOON + 2_000,
    });
    expect(until({ policy: policy(70, 1, { paused: true }) })).toEqual({ kind: 'nothing' });
  });

  it('opens at the very millisecond', () => {
    expect(
      reasonOf(
        drifting({ history: { from: 'spot', to: 'on-demand', endedAtMs: NOON - 10_000, failures: 0 } }),
      ),
    ).toBe('SpotSurplus');
    expect(reasonOf(withWorkload({ policyChangedAtMs: NOON - 3_000 }))).toBe('SpotSurplus');
    expect(reasonOf(drifting({ policy: policy(70, 1, { window: nightly(12) }) }))).toBe('SpotSurplus');
  });

  it('lets one trial through when the webhook was bypassed ten minutes ago', () => {
    const { verdict } = decide(
      drifting({ webhook: { kind: 'bypassed', lastTrialAtMs: NOON - 600_000 } }),
      NOON,
    );
    expect(verdict.kind === 'move' && verdict.move.trial).toBe(true);
  });

  it('needs both windows to be open', () => {
    const windows = (own: number, cluster: number) =>
      decide(
        drifting({
          policy: policy(70, 1, { window: nightly(own) }),
          settings: { ...settings, window: nightly(cluster) },
        }),
        NOON,
      );
    expect(windows(12, 12).reason).toBe('SpotSurplus');
    expect(windows(12, 13).facts).toEqual({ window: 'cluster', opensAtMs: null });
    expect(windows(13, 12).facts).toEqual({ window: 'workload', opensAtMs: null });
    expect(windows(14, 14).facts).toEqual({ window: 'both', opensAtMs: NOON + 7_200_000 });
    expect(windows(12, 13).verdict).toEqual({ kind: 'nothing' });
  });

  it.each([
    ['an invalid number', { kind: 'invalid', numbers: { spotPercentage: 0, minOnDemand: 0 }, problems: [] }],
    ['a broken schedule', { kind: 'frozen', numbers, problems: [] }],
  ] as const)('holds every move for %s', (_, reading) => {
    expect(reasonOf(drifting({ policy: reading }))).toBe('InvalidPolicy');
  });

  it('holds while two revisions want pods, and while none does', () => {
    const two = [revision(5), revision(5, { uid: 'rs-2' })];
    expect(reasonOf(withWorkload({ revisions: two }))).toBe('RolloutInProgress');
    expect(reasonOf(withWorkload({ revisions: [] }))).toBe('RolloutInProgress');
    expect(
      reasonOf(
        withWorkload({
          revisions: [revision(10, { ledger: { spot: 8, onDemand: 2 } }), revision(0, { uid: 'rs-0' })],
        }),
      ),
    ).toBe('SpotSurplus');
  });

  it('settles after a pod was made, not only after one went', () => {
    expect(reasonOf(withPods((one) => (one.name === 'o0' ? { createdAtMs: NOON - 1_000 } : {})))).toBe(
      'Settling',
    );
  });

  it('does not close for a pod that is Pending', () => {
    const trace = decide(
      withPods((one) => (one.name === 's3' ? { phase: 'Pending', ready: false, nodeName: null } : {})),
      NOON,
    );
    expect(trace.verdict.kind === 'move' && trace.verdict.move.pod.name).toBe('s3');
  });

  it('compares the ledger with the pods', () => {
    const ledger = { spot: 7, onDemand: 3 };
    expect(decide(withWorkload({ revisions: [revision(10, { ledger })] }), NOON)).toMatchObject({
      reason: 'LedgerDiffers',
      facts: { ledger },
    });
  });
});

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

  it('is reported as well when the pods allow neither type', () => {
    const neither = { ...template, spec: pinnedTo('reserved') };
    const workload = deploymentOf(pods, { revisions: [revision(10, { ledger, template: neither })] });
    expect(reasonOf(drifting({ workload }))).toBe('PlacementConflict');
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
    expect(decide(drifting({ budgets }), NOON)).toMatchObject({
      reason: 'BudgetSpent',
      facts: { budget: 'node', used: 1, limit: 1 },
    });
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
    const all = [...podsOf(6, 3, numbers), pod('new', { type: null, phase: 'Pending', ready: false })];
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
    expect(victim(set('sssss'))).toBe('web-4');
    expect(victim(set('ooooo'))).toBe('web-3');
  });

  it('leaves mismatched ordinals alone while the share is right', () => {
    expect(reasonOf(set('ssoso'))).toBe('Balanced');
  });

  it('counts ordinals from the first', () => {
    const members = [3, 4, 5, 6, 7].map((ordinal) => ordinalPod(ordinal, 'spot'));
    const shifted = set('', { pods: members, workload: statefulSet(5, { firstOrdinal: 3 }) });
    expect(victim(shifted)).toBe('web-7');
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

  it('counts the partition from the first ordinal', () => {
    const rolling = (updatedReplicas: number) =>
      reasonOf(
        set('sssss', {
          workload: statefulSet(5, {
            updateRevision: 'b',
            updatedReplicas,
            firstOrdinal: 3,
            strategy: { type: 'RollingUpdate', partition: 5 },
          }),
        }),
      );
    expect(rolling(3)).not.toBe('RolloutInProgress');
    expect(rolling(0)).toBe('RolloutInProgress');
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

describe('renumbering', () => {
  const shuffled = podsOf(7, 3, { spotPercentage: 20, minOnDemand: 5 });

  it('happens when there is no drift and a scale-down would go wrong', () => {
    const { verdict, reason } = decide(snapshot({ pods: shuffled }), NOON);
    expect(reason).toBe('CostOrder');
    expect(verdict.kind).toBe('renumber');
  });

  it('knows no window, cooldown or pause, since it moves nothing', () => {
    for (const change of [
      { policy: policy(70, 1, { paused: true }) },
      { policy: policy(70, 1, { window: nightly(2) }) },
      { history: { from: 'spot', to: 'on-demand', endedAtMs: NOON - 1, failures: 0 } },
    ] as const) {
      expect(reasonOf(snapshot({ pods: shuffled, ...change }))).toBe('CostOrder');
    }
  });

  it.each(
    closing.filter(([reason]) =>
      [
        'Unmanaged',
        'ReadOnly',
        'LedgerUnreachable',
        'RolloutPaused',
        'GenerationBehind',
        'RolloutInProgress',
        'WorkloadDeleted',
      ].includes(reason),
    ),
  )('does not happen while %s', (reason, change) => {
    expect(reasonOf(snapshot({ pods: shuffled, ...change }))).toBe(reason);
  });

  it('waits for the workload to settle', () => {
    const workload = deploymentOf(shuffled, { replicasChangedAtMs: NOON - 1_000 });
    expect(reasonOf(snapshot({ pods: shuffled, workload }))).toBe('Settling');
    const closed = policy(70, 1, { paused: true });
    expect(reasonOf(snapshot({ pods: shuffled, workload, policy: closed }))).toBe('Paused');
  });

  it("leaves the user's own costs alone", () => {
    const own = {
      ...template,
      metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '7' } },
    };
    const workload = deploymentOf(shuffled, { revisions: [revision(10, { template: own })] });
    expect(reasonOf(snapshot({ pods: shuffled, workload }))).toBe('Balanced');
  });

  it('waits until the type of every pod is known', () => {
    const all = [...shuffled, pod('new', { type: null, phase: 'Pending', ready: false })];
    const trace = decide(snapshot({ pods: all, policy: policy(63, 1) }), NOON);
    expect(trace).toMatchObject({ reason: 'Balanced', standing: { drift: 0, untyped: 1 } });
  });

  it('does not happen before a drift is repaired', () => {
    const all = podsOf(8, 2, { spotPercentage: 20, minOnDemand: 5 });
    expect(reasonOf(snapshot({ pods: all }))).toBe('SpotSurplus');
  });
});
