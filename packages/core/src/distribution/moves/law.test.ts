import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { otherType } from '../../capacity/type.ts';
import { ordinalType } from '../../policy/slot.ts';
import { explainRebalance } from '../explain/rebalance.ts';
import { foreignKeys, podKeys } from '../../policy/keys.ts';
import { propertyRuns } from '../../testing/arbitraries.ts';
import { NOON } from '../../testing/rebalance.ts';
import {
  anySnapshot,
  closedWindow,
  openSnapshot,
  type WorkloadShape,
  workloadShapes,
} from '../../testing/snapshots.ts';
import { decide } from './decide.ts';
import { membersOf } from '../../cluster/member.ts';
import type { WorkloadPod } from '../../cluster/workload-pod.ts';
import type { RebalanceSnapshot } from './snapshot.ts';
import type { RebalanceReason, RebalanceTrace } from './verdict.ts';
import type { WorkloadView } from '../../cluster/workload.ts';

/** Marked so that nobody may move it, said once more and independently of the code. */
const isProtected = ({ annotations, priority }: WorkloadPod): boolean =>
  annotations[podKeys.doNotMove] === 'true' ||
  annotations[foreignKeys.karpenterDoNotDisrupt] === 'true' ||
  annotations[foreignKeys.safeToEvict] === 'false' ||
  priority >= 2_000_000_000;

const shapeOf = (workload: WorkloadView): WorkloadShape =>
  workload.kind === 'StatefulSet' ? workload.podManagement : workload.strategy.type;

/** Its owner is not through with it, said once more and independently of the code. */
function isUnderWay(workload: WorkloadView): boolean {
  const { replicas, updatedReplicas } = workload;
  if (workload.kind === 'Deployment') {
    const wanting = workload.revisions.filter((one) => one.replicas > 0);
    return workload.paused || updatedReplicas !== replicas || wanting.length !== 1;
  }
  if (workload.currentRevision === workload.updateRevision) return false;
  const held = workload.strategy.type === 'RollingUpdate' ? workload.strategy.partition : 0;
  return updatedReplicas !== replicas - held;
}

/** Each holds some of a thousand snapshots. */
const gates: readonly RebalanceReason[] = [
  'Unmanaged',
  'ReadOnly',
  'Paused',
  'LedgerUnreachable',
  'WebhookNotServing',
  'WorkloadDeleted',
  'RolloutPaused',
  'GenerationBehind',
  'RolloutInProgress',
  'MoveInFlight',
  'Cooldown',
  'WindowClosed',
  'Balanced',
  'Settling',
  'PodsMissing',
  'LedgerDiffers',
  'NoCapacity',
  'SingleReplica',
  'OthersNotReady',
  'NotAvailable',
  'NoCandidate',
  'PdbBlocks',
];

const withMove = (check: (one: RebalanceSnapshot, victim: WorkloadPod, trace: RebalanceTrace) => void) =>
  fc.property(anySnapshot, (one) => {
    const trace = decide(one, NOON);
    if (trace.verdict.kind !== 'move') return;
    const { uid } = trace.verdict.move.pod;
    const victim = one.pods.find((candidate) => candidate.uid === uid);
    if (victim === undefined) throw new Error('moves a pod that is not there');
    check(one, victim, trace);
  });

describe('a move, whatever the snapshot', () => {
  it('is never of a foreign, protected, young or unknown pod', () => {
    fc.assert(
      withMove(({ workload }, victim) => {
        expect(victim.controller?.uid).toBe(workload.kind === 'StatefulSet' ? 'workload-1' : 'rs-1');
        expect(victim.terminating || victim.phase === 'Failed').toBe(false);
        expect(isProtected(victim)).toBe(false);
        expect(victim.ready && victim.createdAtMs > NOON - 60_000).toBe(false);
        expect(['plain', 'gone']).not.toContain(victim.nodeName);
      }),
      propertyRuns,
    );
  });

  it('never begins with a closed gate, nor while another is in flight', () => {
    fc.assert(
      withMove((one) => {
        expect(one).toMatchObject({
          managed: { managed: true },
          ledger: { kind: 'reachable' },
          history: null,
          settings: { readOnly: false },
          policy: { paused: false },
          workload: { deleting: false, observedGeneration: one.workload.generation },
          budgets: { workload: 0 },
        });
        expect(one.webhook.kind).not.toBe('notServing');
        const windows = [one.policy.kind === 'valid' ? one.policy.window : null, one.settings.window];
        expect(windows).not.toContain(closedWindow);
        expect(isUnderWay(one.workload)).toBe(false);
      }),
      propertyRuns,
    );
  });

  it('never begins within 3 s of a change of policy, replicas or pods', () => {
    fc.assert(
      withMove(({ workload, pods, nodes }) => {
        const { policyChangedAtMs, replicasChangedAtMs, podGoneAtMs } = workload;
        const made = membersOf(workload, pods, nodes).map(({ pod }) => pod.createdAtMs);
        for (const atMs of [policyChangedAtMs, replicasChangedAtMs, podGoneAtMs, ...made]) {
          expect(atMs ?? 0).toBeLessThanOrEqual(NOON - 3_000);
        }
      }),
      propertyRuns,
    );
  });

  it('of a StatefulSet is of an ordinal that comes back on the other type, in order if that was asked for', () => {
    fc.assert(
      withMove((one, victim, { standing, verdict }) => {
        const { workload, pods, nodes } = one;
        if (workload.kind !== 'StatefulSet' || verdict.kind !== 'move' || standing === null) return;
        const ordinal = Number(victim.name.slice('web-'.length));
        expect(ordinalType(standing.numbers, ordinal, workload.firstOrdinal)).toBe(verdict.move.to);
        if (workload.podManagement === 'Parallel') return;
        const others = membersOf(workload, pods, nodes).filter(({ pod }) => pod.uid !== victim.uid);
        expect(others.every(({ pod }) => pod.ready)).toBe(true);
      }),
      propertyRuns,
    );
  });

  it('never takes the on-demand pods below the floor', () => {
    fc.assert(
      withMove((one, victim, { standing, verdict }) => {
        if (verdict.kind !== 'move' || verdict.move.from === 'spot' || standing === null) return;
        const floor = Math.min(standing.numbers.minOnDemand, one.workload.replicas);
        expect(standing.counts.onDemand - 1).toBeGreaterThanOrEqual(floor);
        if (victim.nodeName === null) return;
        const members = membersOf(one.workload, one.pods, one.nodes);
        const onNodes = members.filter(
          ({ pod: { nodeName }, type }) => nodeName !== null && type === 'on-demand',
        );
        expect(onNodes.length - 1).toBeGreaterThanOrEqual(floor);
      }),
      propertyRuns,
    );
  });

  it('always brings the workload one step nearer, from and to the right types', () => {
    fc.assert(
      withMove((one, victim, trace) => {
        const { standing, verdict } = trace;
        if (verdict.kind !== 'move' || standing === null) return;
        const { from, to } = verdict.move;
        expect(to).toBe(otherType(from));
        // Or an ordinal that the floor needs after a scale-down, whatever the drift: perhaps it is short already.
        const isForOrdinal =
          trace.reason === 'FloorOrdinal' || (trace.reason === 'FloorShort' && standing.drift === 0);
        if (isForOrdinal) {
          expect(from).toBe('spot');
          expect(standing.ordinals?.belowFloor).toBeGreaterThan(0);
        } else expect(Math.sign(standing.drift)).toBe(from === 'spot' ? 1 : -1);
        const home = victim.nodeName === null ? undefined : one.nodes.get(victim.nodeName);
        expect(home?.type ?? victim.annotations[podKeys.capacityType]).toBe(from);
        expect(one.nodes.get(verdict.move.evidence)?.type).toBe(to);
      }),
      propertyRuns,
    );
  });

  it('leaves the application the pods that it needs', () => {
    fc.assert(
      withMove((one, victim) => {
        if (!victim.ready) return;
        const { workload } = one;
        const { replicas, availableReplicas } = workload;
        const share =
          workload.kind === 'StatefulSet' || workload.strategy.type === 'Recreate'
            ? 0
            : workload.strategy.maxUnavailable === '100%'
              ? 1
              : 0.25;
        const away = Math.max(1, Math.floor(replicas * share));
        expect(availableReplicas - 1).toBeGreaterThanOrEqual(replicas - away);
      }),
      propertyRuns,
    );
  });
});

describe('every snapshot', () => {
  it('has one answer, the same every time', () => {
    let moves = 0;
    fc.assert(
      fc.property(anySnapshot, (one) => {
        const trace = decide(one, NOON);
        expect(decide(structuredClone(one), NOON)).toEqual(trace);
        if (trace.verdict.kind === 'move') moves++;
      }),
      propertyRuns,
    );
    // Or the properties of moves would say little.
    expect(moves).toBeGreaterThan(propertyRuns.numRuns / 10);
  });

  it('with a drift and nothing in the way is moved on', () => {
    const reasons = new Set<string>();
    const shapes = new Set<string>();
    fc.assert(
      fc.property(openSnapshot, ({ shape, snapshot, pending }) => {
        const trace = decide(snapshot, NOON);
        reasons.add(trace.reason);
        shapes.add(shape);
        expect(trace.verdict.kind).toBe('move');
        if (pending !== null)
          expect(trace.verdict.kind === 'move' && trace.verdict.move.pod.name).toBe(pending);
      }),
      propertyRuns,
    );
    expect([...reasons].toSorted()).toEqual(['FloorOrdinal', 'FloorShort', 'OnDemandSurplus', 'SpotSurplus']);
    expect([...shapes].toSorted()).toEqual(workloadShapes.toSorted());
  });

  it('is drawn so that each gate is at times the one that closes, and each kind of workload moved', () => {
    const reasons = new Set<string>();
    const moved = new Set<string>();
    for (const one of fc.sample(anySnapshot, { numRuns: 1_000, seed: 1 })) {
      const { reason, verdict } = decide(one, NOON);
      reasons.add(reason);
      if (verdict.kind === 'move') moved.add(shapeOf(one.workload));
    }
    expect(gates.filter((reason) => !reasons.has(reason))).toEqual([]);
    expect([...moved].toSorted()).toEqual(workloadShapes.toSorted());
  });

  it('says of every pod that has been without a node for a minute that it is', () => {
    let waiting = 0;
    fc.assert(
      fc.property(anySnapshot, (one) => {
        const trace = decide(one, NOON);
        if (trace.reason === 'Unmanaged') return;
        const members = membersOf(one.workload, one.pods, one.nodes);
        const without = members.filter(
          ({ pod }) => pod.nodeName === null && pod.createdAtMs <= NOON - 60_000,
        ).length;
        const told = Object.values(trace.waiting).reduce((sum, count) => sum + count, 0);
        expect(told).toBe(without);
        if (without === 0) return;
        waiting++;
        expect(trace.reason).not.toBe('Balanced');
        expect(explainRebalance(trace)).toContain('no scheduler has looked at');
      }),
      propertyRuns,
    );
    expect(waiting).toBeGreaterThan(propertyRuns.numRuns / 10);
  });

  it('that is ever answered with a wait is told a time to come', () => {
    fc.assert(
      fc.property(anySnapshot, (one) => {
        const { verdict } = decide(one, NOON);
        if (verdict.kind === 'wait') expect(verdict.untilMs).toBeGreaterThan(NOON);
      }),
      propertyRuns,
    );
  });
});
