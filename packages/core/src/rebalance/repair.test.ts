import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { type CapacityType, otherType } from '../capacity/type.ts';
import { typeForNext } from '../distribution/next.ts';
import { ordinalType } from '../distribution/slot.ts';
import { drift, type PolicyNumbers, targetSpot } from '../distribution/target.ts';
import { foreignKeys, podKeys } from '../policy/keys.ts';
import { policyNumbers, propertyRuns } from '../testing/arbitraries.ts';
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
  pod,
  podsOf,
  policy,
  revision,
  settings,
  snapshot,
  statefulSet,
} from '../testing/rebalance.ts';
import { afterMove } from './cooldown.ts';
import { decide } from './decide.ts';
import type { WorkloadPod } from './pod.ts';
import { isOrderExact } from './renumber.ts';
import { membersOf } from './member.ts';
import type { MoveHistory, RebalanceSnapshot } from './snapshot.ts';
import type { RebalanceTrace } from './verdict.ts';

const AN_HOUR = 3_600_000;
const counted = (pods: readonly WorkloadPod[]) => {
  const spot = pods.filter((one) => one.annotations[podKeys.capacityType] === 'spot').length;
  return { spot, onDemand: pods.length - spot };
};

/** The lowest rank that no pod of the type holds, as the ledger gives it. */
function freeRank(pods: readonly WorkloadPod[], type: CapacityType): number {
  const used = new Set(
    pods
      .filter((one) => one.annotations[podKeys.capacityType] === type)
      .map((one) => Number(one.annotations[podKeys.rank] ?? -1)),
  );
  let rank = 0;
  while (used.has(rank)) rank++;
  return rank;
}

interface Course {
  readonly moves: number;
  readonly pods: readonly WorkloadPod[];
  readonly last: RebalanceTrace;
  readonly writes: number;
}

/** Carries out what is decided, refilling by the admission's rule, until there is nothing left to do. */
function run(start: RebalanceSnapshot, numbers: PolicyNumbers, most: number): Course {
  let { pods } = start;
  let history: MoveHistory | null = null;
  let nowMs = NOON;
  let moves = 0;
  let writes = 0;
  for (let step = 0; step <= most; step++) {
    const { workload } = start;
    const current: RebalanceSnapshot = {
      ...start,
      pods,
      history,
      workload: workload.kind === 'Deployment' ? deploymentOf(pods) : workload,
    };
    const trace = decide(current, nowMs);
    if (trace.verdict.kind === 'nothing') return { moves, pods, last: trace, writes };
    nowMs += AN_HOUR;
    if (trace.verdict.kind === 'renumber') {
      const changes = new Map(trace.verdict.renumberings.map((one) => [one.pod.uid, one]));
      writes += changes.size;
      pods = pods.map((one) => {
        const change = changes.get(one.uid);
        if (change === undefined) return one;
        const { rank, cost } = change;
        return annotated(one, { [podKeys.rank]: String(rank), [foreignKeys.podDeletionCost]: String(cost) });
      });
      continue;
    }
    if (trace.verdict.kind !== 'move') throw new Error(`${trace.reason} at step ${step}`);
    const { move } = trace.verdict;
    moves++;
    const left = pods.filter(({ uid }) => uid !== move.pod.uid);
    const type = nextType(current, numbers, left, move.pod.name);
    const options = { createdAtMs: NOON, startedAtMs: NOON };
    const made =
      workload.kind === 'StatefulSet'
        ? { ...ordinalPod(0, type, options), name: move.pod.name }
        : pod(`n${moves}`, { ...options, type, rank: freeRank(left, type), numbers });
    pods = [...left, { ...made, uid: `new-${moves}` }];
    history = afterMove(
      history,
      { from: move.from, to: move.to, outcome: type === move.to ? 'succeeded' : 'failed' },
      nowMs - 1_800_000,
    );
  }
  throw new Error('no end');
}

function nextType(
  { workload }: RebalanceSnapshot,
  numbers: PolicyNumbers,
  left: readonly WorkloadPod[],
  name: string,
): CapacityType {
  if (workload.kind === 'Deployment') return typeForNext(numbers, counted(left));
  return ordinalType(numbers, Number(name.split('-')[1]), workload.firstOrdinal);
}

const free = { ...settings, allowSingleReplica: true };
const size = fc.nat(20);

describe('repairing a drift', () => {
  it('takes exactly |d| moves from any mix, and none after (B6)', () => {
    fc.assert(
      fc.property(policyNumbers, policyNumbers, size, size, (numbers, before, spot, onDemand) => {
        fc.pre(spot + onDemand > 0);
        const pods = podsOf(spot, onDemand, before);
        const start = snapshot({
          pods,
          policy: policy(numbers.spotPercentage, numbers.minOnDemand),
          settings: free,
        });
        const d = Math.abs(drift(numbers, { spot, onDemand }));
        const end = run(start, numbers, d + 2);
        expect(end.moves).toBe(d);
        expect(end.last).toMatchObject({ reason: 'Balanced', standing: { drift: 0 } });
        expect(counted(end.pods).spot).toBe(targetSpot(numbers, spot + onDemand));
        const workload = deploymentOf(end.pods);
        expect(isOrderExact(numbers, membersOf(workload, end.pods, bothNodes))).toBe(true);
      }),
      propertyRuns,
    );
  });

  it('takes exactly |d| moves of a StatefulSet', () => {
    fc.assert(
      fc.property(
        policyNumbers,
        fc.array(fc.constantFrom<CapacityType>('spot', 'on-demand'), { minLength: 1, maxLength: 30 }),
        fc.nat(4),
        fc.boolean(),
        (numbers, types, firstOrdinal, ordered) => {
          const pods = types.map((type, index) => ordinalPod(firstOrdinal + index, type));
          const workload = statefulSet(pods.length, {
            firstOrdinal,
            podManagement: ordered ? 'OrderedReady' : 'Parallel',
          });
          const start = snapshot({
            pods,
            workload,
            policy: policy(numbers.spotPercentage, numbers.minOnDemand),
            settings: free,
          });
          const d = Math.abs(drift(numbers, counted(pods)));
          const end = run(start, numbers, d + 1);
          expect(end.moves).toBe(d);
          expect(end.last.reason).toBe('Balanced');
        },
      ),
      propertyRuns,
    );
  });

  it.each([
    ['60 to 80 % with ten pods', 6, 4, 80, 0, 2],
    ['70 to 80 % with ten pods and a floor', 7, 3, 80, 1, 1],
    ['ten adopted pods, all on spot, at 70 %', 10, 0, 70, 0, 3],
    ['a floor raised from 1 to 5', 7, 3, 70, 5, 2],
    ['0 to 100 %', 0, 10, 100, 0, 10],
    ['100 to 0 %', 10, 0, 0, 0, 10],
  ])('%s', (_, spot, onDemand, percentage, floor, moves) => {
    const numbers = { spotPercentage: percentage, minOnDemand: floor };
    const adopted = podsOf(spot, onDemand, { spotPercentage: 50, minOnDemand: 0 });
    const start = snapshot({ pods: adopted, policy: policy(percentage, floor) });
    expect(run(start, numbers, moves + 2).moves).toBe(moves);
  });
});

/** Mostly the usual, so that many of these in a snapshot still let some moves through. */
const rare = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 40, arbitrary: fc.constant(usual) },
    ...others.map((value) => ({ weight: 1, arbitrary: fc.constant(value) })),
  );

/** Snapshots with everything that can stand in the way, some of it, or nothing. */
const anyPod = (index: number): fc.Arbitrary<WorkloadPod> =>
  fc
    .record({
      type: fc
        .constantFrom<CapacityType>('spot', 'on-demand')
        .chain((type) => rare<CapacityType | null>(type, null)),
      rank: fc.option(fc.nat(12)),
      state: rare('ready', 'unready', 'pending', 'terminating', 'failed'),
      place: fc.constantFrom('home', 'home', 'home', 'home', 'elsewhere', 'unknown', 'missing', 'doomed'),
      owner: fc.constantFrom('rs-1', 'rs-1', 'rs-1', 'rs-1', 'rs-1', 'rs-other', null),
      mark: fc.constantFrom(
        'none',
        'none',
        'none',
        'none',
        'do-not-move',
        'do-not-disrupt',
        'unsafe',
        'critical',
      ),
      age: fc.constantFrom(AN_HOUR, AN_HOUR, AN_HOUR, 30_000),
      canary: fc.boolean(),
    })
    .map(({ type, rank, state, place, owner, mark, age, canary }) => {
      const pending = state === 'pending';
      const at: Readonly<Record<string, string>> = {
        home: type === 'on-demand' ? 'od-1' : 'spot-1',
        unknown: 'plain',
        missing: 'gone',
        doomed: type === 'on-demand' ? 'od-leaving' : 'spot-leaving',
      };
      const marks: Readonly<Record<string, Record<string, string>>> = {
        none: {},
        'do-not-move': { [podKeys.doNotMove]: 'true' },
        'do-not-disrupt': { [foreignKeys.karpenterDoNotDisrupt]: 'true' },
        unsafe: { [foreignKeys.safeToEvict]: 'false' },
        critical: {},
      };
      return pod(`p${index}`, {
        type,
        rank,
        controller: owner === null ? null : { kind: 'ReplicaSet', uid: owner },
        ready: state === 'ready' || state === 'terminating',
        terminating: state === 'terminating',
        phase: pending ? 'Pending' : state === 'failed' ? 'Failed' : 'Running',
        nodeName: pending ? null : (at[place] ?? null),
        annotations: marks[mark] ?? {},
        priority: mark === 'critical' ? 2_000_000_001 : 0,
        createdAtMs: NOON - age,
        startedAtMs: NOON - age,
        labels: { app: 'web', ...(canary ? { canary: 'true' } : {}) },
      });
    });

const anyPods = fc
  .oneof({ weight: 9, arbitrary: fc.integer({ min: 2, max: 14 }) }, { weight: 1, arbitrary: fc.nat(1) })
  .chain((length) => fc.tuple(...Array.from({ length }, (_, index) => anyPod(index))));
const anyNodes = nodesOf(
  node('spot-1', 'spot'),
  node('od-1', 'on-demand'),
  node('plain', 'unknown'),
  node('spot-leaving', 'spot', { cordoned: true }),
  node('od-leaving', 'on-demand', { ready: false }),
);

const anySnapshot: fc.Arbitrary<RebalanceSnapshot> = fc
  .record({
    pods: anyPods,
    numbers: fc.record({ spotPercentage: fc.nat(100), minOnDemand: fc.nat(5) }),
    maxUnavailable: fc.constantFrom('25%', '100%'),
    misplaced: rare(false, true),
    managed: rare<RebalanceSnapshot['managed']>({ managed: true }, { managed: false, reason: 'NotLabelled' }),
    ledger: rare<RebalanceSnapshot['ledger']>({ kind: 'reachable' }, { kind: 'unreachable', code: 'X' }),
    webhook: rare<RebalanceSnapshot['webhook']>(
      { kind: 'serving' },
      { kind: 'notServing', detail: 'x' },
      { kind: 'bypassed', lastTrialAtMs: NOON - AN_HOUR },
    ),
    readOnly: rare(false, true),
    paused: rare(false, true),
    inFlight: rare(0, 1),
    cluster: rare(0, 20),
    onNode: rare(0, 1),
    available: rare(0, 1, 2),
    missing: rare(0, 1),
    ledgerError: rare(0, 1),
    capacity: rare(true, false),
    budget: rare<number | null>(null, 0, 1),
    history: rare<MoveHistory | null>(null, {
      from: 'spot',
      to: 'on-demand',
      endedAtMs: NOON - 5_000,
      failures: 0,
    }),
  })
  .map((parts) => {
    const nodes = parts.capacity ? anyNodes : nodesOf(node('plain', 'unknown'));
    const misplace = (one: WorkloadPod): WorkloadPod =>
      altered(one, { nodeName: one.nodeName === 'spot-1' ? 'od-1' : 'spot-1' });
    const pods = parts.misplaced ? parts.pods.map(misplace) : parts.pods;
    const own = membersOf(deployment(1), pods, nodes);
    const spot = own.filter(({ type }) => type === 'spot').length;
    const onDemand = own.filter(({ type }) => type === 'on-demand').length;
    const replicas = own.length + parts.missing;
    const workload = deployment(replicas, {
      strategy: { type: 'RollingUpdate', maxUnavailable: parts.maxUnavailable },
      availableReplicas: Math.max(0, own.filter((one) => one.pod.ready).length - parts.available),
    });
    const ledger = { spot: spot + parts.ledgerError, onDemand };
    return snapshot({
      pods,
      policy: policy(parts.numbers.spotPercentage, parts.numbers.minOnDemand, { paused: parts.paused }),
      workload: { ...workload, revisions: replicas === 0 ? [] : [revision(replicas, { ledger })] },
      managed: parts.managed,
      ledger: parts.ledger,
      webhook: parts.webhook,
      history: parts.history,
      nodes,
      settings: { ...settings, readOnly: parts.readOnly },
      budgets: {
        cluster: parts.cluster,
        namespace: 0,
        workload: parts.inFlight,
        nodes: new Map([['spot-1', parts.onNode]]),
        begunAtMs: [],
      },
      pdbs:
        parts.budget === null
          ? []
          : [
              {
                name: 'canary',
                selector: { matchLabels: { canary: 'true' } },
                minAvailable: null,
                maxUnavailable: 1,
                unhealthyPodEvictionPolicy: 'IfHealthyBudget',
                generation: 1,
                observedGeneration: 1,
                disruptionsAllowed: parts.budget,
                currentHealthy: 5,
                expectedPods: 5,
              },
            ],
    });
  });

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
