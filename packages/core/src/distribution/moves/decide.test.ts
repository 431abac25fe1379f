import { describe, expect, it } from '@jest/globals';
import { explainRebalance } from '../explain/rebalance.ts';
import { numbers, drifting, nightly, reasonOf, closing } from '../../testing/drifting.ts';
import {
  deploymentOf,
  NOON,
  pdb,
  pod,
  podsOf,
  policy,
  revision,
  snapshot,
  template,
} from '../../testing/rebalance.ts';
import { decide } from './decide.ts';

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
      drought: 'closed',
      waiting: {},
    });
  });

  it('says what the API server refused until it may be asked again, each kind of write for itself', () => {
    const because = (reason: 'EvictionFailed' | 'AnnotationRefused') =>
      ({ reason, message: 'no', untilMs: NOON + 9 }) as const;
    const held = (reason: string) => ({
      verdict: { kind: 'wait', untilMs: NOON + 9 },
      reason,
      facts: { message: 'no' },
    });
    const evict = { evict: because('EvictionFailed'), annotate: null };
    const annotate = { evict: null, annotate: because('AnnotationRefused') };
    expect(decide(drifting({ refused: evict }), NOON)).toMatchObject(held('EvictionFailed'));
    expect(decide(drifting({ refused: annotate }), NOON).reason).toBe('SpotSurplus');
    const shuffled = podsOf(7, 3, numbers).toReversed();
    const mistyped = shuffled.map((one) =>
      one.name === 's0'
        ? { ...one, annotations: { ...one.annotations, 'spotalis.io/capacity-type': 'on-demand' } }
        : one,
    );
    const wrong = { pods: mistyped, workload: deploymentOf(mistyped) };
    expect(decide(snapshot({ ...wrong, refused: annotate }), NOON)).toMatchObject(held('AnnotationRefused'));
    expect(decide(snapshot({ ...wrong, refused: evict }), NOON).reason).toBe('NodeDiffers');
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

describe('a workload of which a quota lets eight of ten pods run, all of them on spot', () => {
  const AN_HOUR = 3_600_000;
  const eight = podsOf(8, 0, { spotPercentage: 70, minOnDemand: 2 });
  const [createdAtMs] = eight.map((one) => one.createdAtMs);
  const kept = (maxUnavailable: string, podGoneAtMs: number | null = null) =>
    snapshot({
      pods: eight,
      policy: policy(70, 2),
      workload: deploymentOf(eight, {
        replicas: 10,
        updatedReplicas: 10,
        revisions: [revision(10, { ledger: { spot: 8, onDemand: 0 } })],
        strategy: { type: 'RollingUpdate', maxUnavailable },
        podGoneAtMs,
      }),
    });

  it('gets its floor, once no pod has come or gone for a minute', () => {
    expect(createdAtMs).toBe(NOON - AN_HOUR);
    expect(decide(kept('30%'), NOON)).toMatchObject({ reason: 'FloorShort', verdict: { kind: 'move' } });
    expect(decide(kept('30%', NOON - 20_000), NOON)).toMatchObject({
      reason: 'PodsMissing',
      facts: { pods: 8, wanted: 10 },
      verdict: { kind: 'wait', untilMs: NOON + 40_000 },
    });
  });

  it('is said to have too few pods where its rollout strategy spares none of the eight', () => {
    const trace = decide(kept('25%'), NOON);
    expect(trace).toMatchObject({ reason: 'NotAvailable', facts: { available: 8, needed: 8, missing: 2 } });
    expect(explainRebalance(trace)).toContain('2 more pods are wanted and do not exist');
  });

  it('is waited for while there are more pods than are wanted', () => {
    const eleven = podsOf(11, 0, { spotPercentage: 70, minOnDemand: 2 });
    const workload = deploymentOf(eleven, {
      replicas: 10,
      updatedReplicas: 10,
      revisions: [revision(10, { ledger: { spot: 11, onDemand: 0 } })],
    });
    expect(decide(snapshot({ pods: eleven, policy: policy(70, 2), workload }), NOON)).toMatchObject({
      reason: 'PodsMissing',
      verdict: { kind: 'nothing' },
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
      { history: { from: 'spot', to: 'on-demand', endedAtMs: NOON - 1, failures: 0, override: null } },
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
    const all = [
      ...shuffled,
      pod('new', { type: null, phase: 'Pending', ready: false, createdAtMs: NOON - 10_000 }),
    ];
    const trace = decide(snapshot({ pods: all, policy: policy(63, 1) }), NOON);
    expect(trace).toMatchObject({ reason: 'Balanced', standing: { drift: 0, untyped: 1 } });
  });

  it('does not happen before a drift is repaired', () => {
    const all = podsOf(8, 2, { spotPercentage: 20, minOnDemand: 5 });
    expect(reasonOf(snapshot({ pods: all }))).toBe('SpotSurplus');
  });
});
