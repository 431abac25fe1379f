import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { otherType } from '../capacity/type.ts';
import { drift } from '../distribution/target.ts';
import { foreignKeys, podKeys } from '../policy/keys.ts';
import { policyNumbers, propertyRuns } from '../testing/arbitraries.ts';
import { altered, NOON, podsOf, policy, snapshot } from '../testing/rebalance.ts';
import { anySnapshot } from '../testing/snapshots.ts';
import { decide } from './decide.ts';
import { membersOf } from './member.ts';
import type { WorkloadPod } from './pod.ts';
import type { RebalanceSnapshot } from './snapshot.ts';
import type { RebalanceTrace } from './verdict.ts';

const size = fc.nat(20);

/** Marked so that nobody may move it, said once more and independently of the code. */
const isProtected = ({ annotations, priority }: WorkloadPod): boolean =>
  annotations[podKeys.doNotMove] === 'true' ||
  annotations[foreignKeys.karpenterDoNotDisrupt] === 'true' ||
  annotations[foreignKeys.safeToEvict] === 'false' ||
  priority >= 2_000_000_000;

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
      withMove((_, victim) => {
        expect(victim.controller?.uid).toBe('rs-1');
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
          budgets: { workload: 0, cluster: 0 },
        });
        expect(one.webhook.kind).not.toBe('notServing');
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
      withMove((one, victim, { standing, verdict }) => {
        if (verdict.kind !== 'move' || standing === null) return;
        const { from, to } = verdict.move;
        expect(to).toBe(otherType(from));
        expect(Math.sign(standing.drift)).toBe(from === 'spot' ? 1 : -1);
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
        if (one.workload.kind !== 'Deployment' || one.workload.strategy.type === 'Recreate')
          throw new Error();
        const { replicas, availableReplicas, strategy } = one.workload;
        const away = Math.max(1, strategy.maxUnavailable === '100%' ? replicas : Math.floor(replicas / 4));
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
    const held = new Set<string>();
    fc.assert(
      fc.property(policyNumbers, size, size, fc.boolean(), (numbers, spot, onDemand, pending) => {
        fc.pre(spot + onDemand > 1);
        fc.pre(drift(numbers, { spot, onDemand }) !== 0);
        const surplus = drift(numbers, { spot, onDemand }) > 0 ? 's0' : 'o0';
        const pods = podsOf(spot, onDemand, numbers).map((one) =>
          pending && one.name === surplus
            ? altered(one, { ready: false, phase: 'Pending', nodeName: null })
            : one,
        );
        const trace = decide(
          snapshot({ pods, policy: policy(numbers.spotPercentage, numbers.minOnDemand) }),
          NOON,
        );
        held.add(trace.reason);
        expect(trace.verdict.kind).toBe('move');
        if (pending) expect(trace.verdict.kind === 'move' && trace.verdict.move.pod.name).toBe(surplus);
      }),
      propertyRuns,
    );
    expect([...held].toSorted()).toEqual(['FloorShort', 'OnDemandSurplus', 'SpotSurplus']);
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
