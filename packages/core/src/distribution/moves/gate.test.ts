import { explainRebalance } from '../explain/rebalance.ts';
import { podKeys } from '../../policy/keys.ts';
import { describe, expect, it } from '@jest/globals';
import {
  numbers,
  pods,
  drifting,
  withWorkload,
  withPods,
  nightly,
  reasonOf,
  balancing,
  beyondRepair,
  closing,
} from '../../testing/drifting.ts';
import {
  annotated,
  deploymentOf,
  node,
  nodesOf,
  NOON,
  policy,
  revision,
  settings,
} from '../../testing/rebalance.ts';
import { decide } from './decide.ts';
import type { RebalanceSnapshot } from './snapshot.ts';
import type { DeploymentView } from '../../cluster/workload.ts';

const asking = { spot: { kind: 'none' }, 'on-demand': { kind: 'none' } } as const;

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

  const fromPaused = closing.slice(closing.findIndex(([reason]) => reason === 'Paused'));
  const movesHeld = fromPaused.slice(
    0,
    fromPaused.findIndex(([reason]) => reason === 'Balanced'),
  );
  it.each(beyondRepair)('never hides that there is %s', (reason, short) => {
    expect(movesHeld.length).toBeGreaterThan(10);
    for (const [, change] of movesHeld) {
      const held = change.policy?.kind === 'valid' ? { ...change.policy, numbers: balancing } : policy(80, 1);
      expect(reasonOf(drifting({ ...change, ...short, policy: held }))).toBe(reason);
    }
  });

  it('that is closed for a known time says when to look again', () => {
    const until = (change: Partial<RebalanceSnapshot>) => decide(drifting(change), NOON).verdict;
    expect(until({ webhook: { kind: 'bypassed', lastTrialAtMs: NOON - 1_000 } })).toEqual({
      kind: 'wait',
      untilMs: NOON + 599_000,
    });
    expect(
      until({
        history: { from: 'spot', to: 'on-demand', endedAtMs: NOON - 4_000, failures: 2, override: null },
      }),
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
        drifting({
          history: { from: 'spot', to: 'on-demand', endedAtMs: NOON - 10_000, failures: 0, override: null },
        }),
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

  it('holds moves, and the proof of room for them, where other defaults would bring the same pod back', () => {
    const otherDefaults = { nextTrialAtMs: NOON + 60_000 };
    const resting = policy(70, 1, { defaulted: ['minOnDemand'] });
    const noRoom = { nodes: nodesOf(node('spot-1', 'spot')), placeholders: asking };
    for (const change of [{}, noRoom]) {
      expect(decide(drifting({ ...change, policy: resting }), NOON).verdict.kind).not.toBe('wait');
      expect(decide(drifting({ ...change, policy: resting, otherDefaults }), NOON)).toMatchObject({
        reason: 'DefaultsDiffer',
        verdict: { kind: 'wait', untilMs: NOON + 60_000 },
      });
      expect(reasonOf(drifting({ ...change, otherDefaults }))).not.toBe('DefaultsDiffer');
    }
    expect(
      decide(drifting({ policy: resting, otherDefaults: { nextTrialAtMs: null } }), NOON).verdict,
    ).toEqual({ kind: 'nothing' });
    const due = { nextTrialAtMs: NOON };
    expect(decide(drifting({ policy: resting, otherDefaults: due }), NOON).verdict.kind).toBe('move');
    const balanced = drifting({ policy: { ...resting, numbers: balancing }, otherDefaults });
    expect(reasonOf(balanced)).toBe('CostOrder');
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
      facts: { ledger, sharing: [] },
    });
  });

  it('names the pods that the ledger counts as one', () => {
    const shared = pods.map((one) =>
      ['s1', 's2'].includes(one.name) ? annotated(one, { [podKeys.reservation]: 'the same' }) : one,
    );
    const ledger = { spot: 7, onDemand: 2 };
    const workload = deploymentOf(shared, { revisions: [revision(10, { ledger })] });
    const trace = decide(drifting({ pods: shared, workload }), NOON);
    expect(trace).toMatchObject({ reason: 'LedgerDiffers', facts: { ledger, sharing: ['s1', 's2'] } });
    expect(explainRebalance(trace)).toContain('s1, s2 share a reservation');
  });
});
