import * as fc from 'fast-check';
import { foreignKeys, podKeys } from '../policy/keys.ts';
import type { CapacityType } from '../capacity/type.ts';
import { ordinalType } from '../policy/slot.ts';
import { drift, type PolicyNumbers } from '../policy/target.ts';
import type { DisruptionWindow } from '../policy/policy.ts';
import { policyNumbers } from './arbitraries.ts';
import { nightly } from './drifting.ts';
import {
  altered,
  deployment,
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
} from './rebalance.ts';
import { membersOf } from '../cluster/member.ts';
import type { WorkloadPod } from '../cluster/workload-pod.ts';
import type { MoveHistory } from '../disruption/cooldown.ts';
import type { RebalanceSnapshot } from '../distribution/moves/snapshot.ts';
import type { WorkloadView } from '../cluster/workload.ts';

const AN_HOUR = 3_600_000;

/** Mostly the usual, so that many of these in a snapshot still let some moves through. */
const rare = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 40, arbitrary: fc.constant(usual) },
    ...others.map((value) => ({ weight: 1, arbitrary: fc.constant(value) })),
  );

const openWindow = nightly(12);
/** As every window in these snapshots but one that is open at noon. */
export const closedWindow = nightly(13);
const windows: Readonly<Record<'none' | 'open' | 'closed', DisruptionWindow | null>> = {
  none: null,
  open: openWindow,
  closed: closedWindow,
};

export const workloadShapes = ['RollingUpdate', 'Recreate', 'Parallel', 'OrderedReady'] as const;
export type WorkloadShape = (typeof workloadShapes)[number];

/** What its owner, or something else than us, is just doing with it. */
const events = [
  'rolloutHeld',
  'rollout',
  'generationBehind',
  'deleting',
  'policyChanged',
  'replicasChanged',
  'podGone',
  'podMade',
] as const;
type Event = (typeof events)[number];

/** A workload of this shape with so many pods wanted, all of them updated. */
function workloadOf(
  shape: WorkloadShape,
  replicas: number,
  { firstOrdinal = 0, maxUnavailable = '25%' } = {},
): WorkloadView {
  if (shape === 'RollingUpdate') return deployment(replicas, { strategy: { type: shape, maxUnavailable } });
  if (shape === 'Recreate') return deployment(replicas, { strategy: { type: shape } });
  return statefulSet(replicas, { podManagement: shape, firstOrdinal });
}

type Steady = Partial<
  Pick<
    WorkloadView,
    'observedGeneration' | 'deleting' | 'policyChangedAtMs' | 'replicasChangedAtMs' | 'podGoneAtMs'
  >
>;

/** The same workload while that happens to it. */
function during(workload: WorkloadView, event: Event | null, partition: number): WorkloadView {
  const changes: Partial<Record<Event, Steady>> = {
    generationBehind: { observedGeneration: workload.generation - 1 },
    deleting: { deleting: true },
    policyChanged: { policyChangedAtMs: NOON - 2_999 },
    replicasChanged: { replicasChangedAtMs: NOON - 2_999 },
    podGone: { podGoneAtMs: NOON - 1 },
  };
  const changed = { ...workload, ...(event === null ? {} : changes[event]) };
  if (changed.kind === 'StatefulSet') {
    if (event !== 'rollout' && event !== 'rolloutHeld') return changed;
    const updateRevision = 'b';
    // A partition is how the rollout of a StatefulSet is held, and then the rollout is as far as it should be.
    if (event === 'rolloutHeld') {
      return {
        ...changed,
        updateRevision,
        strategy: { type: 'RollingUpdate', partition: Math.min(partition, changed.replicas) },
        updatedReplicas: Math.max(0, changed.replicas - partition),
      };
    }
    const underWay = { ...changed, updateRevision, updatedReplicas: changed.replicas - 1 };
    return partition === 0 ? underWay : { ...underWay, strategy: { type: 'OnDelete' } };
  }
  if (event === 'rolloutHeld') return { ...changed, paused: true };
  if (event !== 'rollout') return changed;
  return partition === 0
    ? { ...changed, updatedReplicas: changed.replicas - 1 }
    : { ...changed, revisions: [...changed.revisions, revision(1, { uid: 'rs-2' })] };
}

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

/** The same pod as one of a StatefulSet, if it is the workload's. */
const ofSet = (one: WorkloadPod, ordinal: number): WorkloadPod => ({
  ...one,
  name: `web-${ordinal}`,
  controller: one.controller?.uid === 'rs-1' ? { kind: 'StatefulSet', uid: 'workload-1' } : one.controller,
});

/** One that nobody can have counted yet. */
const withNewest = (pods: readonly WorkloadPod[]): readonly WorkloadPod[] =>
  pods.map((one, index) => (index === 0 ? altered(one, { createdAtMs: NOON - 2_999 }) : one));

export const anySnapshot: fc.Arbitrary<RebalanceSnapshot> = fc
  .record({
    pods: anyPods,
    numbers: fc.record({ spotPercentage: fc.nat(100), minOnDemand: fc.nat(5) }),
    shape: fc.constantFrom<WorkloadShape>(
      'RollingUpdate',
      'RollingUpdate',
      'RollingUpdate',
      ...workloadShapes,
    ),
    firstOrdinal: fc.constantFrom(0, 3),
    maxUnavailable: fc.constantFrom('25%', '100%'),
    crashing: fc.constantFrom(...Array.from({ length: 10 }, () => 0), 1, 2, 3),
    event: fc.oneof(
      { weight: 4, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom<Event>(...events, 'rollout', 'rollout', 'rollout') },
    ),
    partition: fc.nat(2),
    ownWindow: fc.constantFrom<keyof typeof windows>(
      ...Array.from({ length: 8 }, () => 'none' as const),
      'open',
      'open',
      'closed',
    ),
    clusterWindow: rare<keyof typeof windows>('none', 'open', 'closed'),
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
    onNode: rare(0, 1, 2),
    available: rare(0, 1, 2),
    missing: rare(0, 1),
    ledgerError: rare(0, 1),
    capacity: rare(true, false),
    budget: rare<number | null>(null, 0, 0, 0, 1),
    history: rare<MoveHistory | null>(null, {
      from: 'spot',
      to: 'on-demand',
      endedAtMs: NOON - 5_000,
      failures: 0,
      override: null,
    }),
  })
  .map((parts) => {
    const nodes = parts.capacity ? anyNodes : nodesOf(node('plain', 'unknown'));
    const misplace = (one: WorkloadPod): WorkloadPod =>
      altered(one, { nodeName: one.nodeName === 'spot-1' ? 'od-1' : 'spot-1' });
    const placed = parts.misplaced ? parts.pods.map(misplace) : parts.pods;
    const { shape, firstOrdinal } = parts;
    const isSet = shape === 'Parallel' || shape === 'OrderedReady';
    const named = isSet ? placed.map((one, index) => ofSet(one, firstOrdinal + index)) : placed;
    const crashing = named.map((one, index) =>
      index < parts.crashing ? altered(one, { ready: false }) : one,
    );
    const pods = parts.event === 'podMade' ? withNewest(crashing) : crashing;
    const own = membersOf(workloadOf(shape, 1), pods, nodes);
    const spot = own.filter(({ type }) => type === 'spot').length;
    const onDemand = own.filter(({ type }) => type === 'on-demand').length;
    const replicas = own.length + parts.missing;
    const counted = {
      ...workloadOf(shape, replicas, parts),
      availableReplicas: Math.max(0, own.filter((one) => one.pod.ready).length - parts.available),
    };
    const ledger = { spot: spot + parts.ledgerError, onDemand };
    const asked = {
      ...counted,
      ...(isSet ? {} : { revisions: replicas === 0 ? [] : [revision(replicas, { ledger })] }),
    };
    return snapshot({
      pods,
      policy: policy(parts.numbers.spotPercentage, parts.numbers.minOnDemand, {
        paused: parts.paused,
        window: windows[parts.ownWindow],
      }),
      workload: during(asked, parts.event, parts.partition),
      managed: parts.managed,
      ledger: parts.ledger,
      webhook: parts.webhook,
      history: parts.history,
      nodes,
      settings: { ...settings, readOnly: parts.readOnly, window: windows[parts.clusterWindow] },
      budgets: {
        workload: parts.inFlight,
        spent: false,
        nodes: new Map([...nodes.keys()].map((name) => [name, parts.onNode])),
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

/** Pods of the types given, each where it belongs, and a workload of this shape that wants just as many. */
function steadySnapshot(
  shape: WorkloadShape,
  types: readonly CapacityType[],
  numbers: PolicyNumbers,
  firstOrdinal: number,
): Pick<RebalanceSnapshot, 'pods' | 'workload'> {
  const workload = workloadOf(shape, types.length, { firstOrdinal });
  const spot = types.filter((type) => type === 'spot').length;
  const ledger = { spot, onDemand: types.length - spot };
  if (workload.kind === 'StatefulSet') {
    return { workload, pods: types.map((type, index) => ordinalPod(firstOrdinal + index, type)) };
  }
  return {
    workload: { ...workload, revisions: [revision(types.length, { ledger })] },
    pods: podsOf(ledger.spot, ledger.onDemand, numbers),
  };
}

/** A pod that may be moved, of a type that there is too much of; null where there is not. */
function surplusOf({ pods, workload }: Pick<RebalanceSnapshot, 'pods' | 'workload'>, numbers: PolicyNumbers) {
  const typeOf = (one: WorkloadPod) => one.annotations[podKeys.capacityType];
  const spot = pods.filter((one) => typeOf(one) === 'spot').length;
  const surplus = drift(numbers, { spot, onDemand: pods.length - spot });
  const from: CapacityType = surplus > 0 ? 'spot' : 'on-demand';
  const slotOf = (index: number) =>
    workload.kind === 'StatefulSet'
      ? ordinalType(numbers, workload.firstOrdinal + index, workload.firstOrdinal)
      : null;
  const movable = pods.find((one, index) => typeOf(one) === from && slotOf(index) !== from);
  return surplus === 0 || movable === undefined ? null : movable;
}

/** Snapshots with a drift and nothing in the way; and the pod that never got a node, if there is one. */
export const openSnapshot: fc.Arbitrary<{
  readonly shape: WorkloadShape;
  readonly snapshot: RebalanceSnapshot;
  readonly pending: string | null;
}> = fc
  .record({
    shape: fc.constantFrom(...workloadShapes),
    types: fc.array(fc.constantFrom<CapacityType>('spot', 'on-demand'), { minLength: 2, maxLength: 40 }),
    numbers: policyNumbers,
    firstOrdinal: fc.constantFrom(0, 3),
    isPending: fc.boolean(),
    own: fc.constantFrom<keyof typeof windows>('none', 'open'),
    cluster: fc.constantFrom<keyof typeof windows>('none', 'open'),
    changedAtMs: fc.constantFrom(null, NOON - 3_000),
  })
  .map(({ shape, types, numbers, firstOrdinal, isPending, own, cluster, changedAtMs }) => {
    const { pods, workload } = steadySnapshot(shape, types, numbers, firstOrdinal);
    const surplus = surplusOf({ pods, workload }, numbers);
    const pending = isPending ? surplus : null;
    const waiting = { ready: false, phase: 'Pending', nodeName: null } as const;
    return {
      shape,
      drifts: surplus !== null,
      pending: pending?.name ?? null,
      snapshot: snapshot({
        pods: pods.map((one) => (one === pending ? altered(one, waiting) : one)),
        policy: policy(numbers.spotPercentage, numbers.minOnDemand, { window: windows[own] }),
        workload: {
          ...workload,
          availableReplicas: types.length - (pending === null ? 0 : 1),
          policyChangedAtMs: changedAtMs,
          replicasChangedAtMs: changedAtMs,
          podGoneAtMs: changedAtMs,
        },
        settings: { ...settings, window: windows[cluster] },
      }),
    };
  })
  .filter(({ drifts }) => drifts);
