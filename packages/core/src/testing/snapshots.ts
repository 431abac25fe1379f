import * as fc from 'fast-check';
import { foreignKeys, podKeys } from '../policy/keys.ts';
import type { CapacityType } from '../capacity/type.ts';
import {
  altered,
  deployment,
  node,
  nodesOf,
  NOON,
  pod,
  policy,
  revision,
  settings,
  snapshot,
} from './rebalance.ts';
import { membersOf } from '../rebalance/member.ts';
import type { WorkloadPod } from '../rebalance/pod.ts';
import type { MoveHistory, RebalanceSnapshot } from '../rebalance/snapshot.ts';

const AN_HOUR = 3_600_000;

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

export const anySnapshot: fc.Arbitrary<RebalanceSnapshot> = fc
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
