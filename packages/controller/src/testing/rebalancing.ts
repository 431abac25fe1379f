import {
  evictionFor,
  type ObservedWorkload,
  type PlaceholderEvidence,
  preparePlacement,
  pruneNode,
  readNodeLabels,
  readPolicy,
  type RebalanceSettings,
  type TypeCounts,
} from '@spotalis/core';
import type { RecordedEvent } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import type { Outcome } from '../kernel/disruption/executor.ts';
import { Register } from '../kernel/disruption/register.ts';
import { Arbiter } from '../kernel/disruption/arbiter.ts';
import { Executor } from '../kernel/disruption/executor.ts';
import { Bypass } from '../modules/distribution/webhook/bypass.ts';
import { SharedDefaults } from '../modules/distribution/webhook/shared-defaults.ts';
import { Rooms } from '../kernel/cluster/rooms.ts';
import { Narrator } from '../modules/distribution/report/narrator.ts';
import { aCluster, aDeployment, aNamespace, aPod, aReplicaSet } from './objects.ts';
import { RefusedAnnotations } from '../modules/distribution/annotate/refused.ts';
import { stateOf } from '../kernel/disruption/state.ts';
import { type Move, Moves } from '../modules/distribution/moves/moves.ts';
import { admissionsOf } from '../modules/distribution/settings.ts';
import { Distribution } from '../modules/distribution/distribution.ts';
import { Problems } from '../modules/distribution/report/problems.ts';
import { Reports } from '../modules/distribution/report/reports.ts';
import { aRunner } from './runner.ts';
import { Changes } from '../modules/distribution/moves/changes.ts';
import { Holds } from '../kernel/disruption/holds.ts';
import { Ledgers } from '../modules/distribution/ledger/ledgers.ts';
import { Rebalancer } from '../modules/distribution/moves/rebalancer.ts';
import type { LedgerReading } from '../modules/distribution/moves/snapshot.ts';

export const subject = 'Deployment/shop/web';
const labels = readNodeLabels({ spot: ['capacity=spot'], onDemand: ['capacity=on-demand'] });
if (!labels.ok) throw new Error('labels');

const settings: RebalanceSettings = {
  readOnly: false,
  window: null,
  cooldownMs: 1_000,
  minPodAgeMs: 0,
  allowSingleReplica: false,
  maxMovesPerMinute: 60,
  maxInFlight: { cluster: 20, namespace: 5, node: 1, workload: 1 },
  fallback: { maxRemovalsPerMinute: 100, backoff: { initialMs: 60_000, maxMs: 1_800_000 } },
  placement: preparePlacement(labels.labels, {
    tolerations: [],
    affinity: { spot: [], 'on-demand': [] },
    spreadSpotOverZones: false,
  }),
};

export const node = (name: string, type: 'spot' | 'on-demand', pods = 110) =>
  pruneNode(() => type)({
    metadata: { name, uid: `${name}-uid`, resourceVersion: '1', labels: { capacity: type } },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      allocatable: { cpu: '8', memory: '16Gi', pods: String(pods) },
    },
  });

/** To be begun without being asked for. */
export const aMove = { from: 'spot', to: 'on-demand', trial: false, restsOnDefaults: false } as const;

/** Workloads of four Ready pods on spot and a policy that wants two there: two moves to go for each. */
export function stage(change: Partial<RebalanceSettings> = {}, names: readonly string[] = ['web']) {
  const clock = { nowMs: 1_000_000 };
  const cluster = aCluster();
  const rooms = new Rooms(cluster);
  cluster.namespaces.upsert(aNamespace(), true);
  cluster.nodes.upsert(node('spot-1', 'spot'), true);
  cluster.nodes.upsert(node('od-1', 'on-demand'), true);
  const mark = (token: string, type: string, rank: number) => ({ token, type, rank });
  for (const name of names) {
    const owner = `${name}-1`;
    cluster.deployments.upsert(aDeployment({ name, replicas: 4 }), true);
    cluster.replicaSets.upsert(aReplicaSet(owner, { owner: name, replicas: 4 }), true);
    for (const [rank, letter] of ['a', 'b', 'c', 'd'].entries()) {
      const pod = name === 'web' ? letter : `${name}-${letter}`;
      cluster.pods.upsert(
        aPod(pod, { owner, node: 'spot-1', ready: true, mark: mark(pod, 'spot', rank) }),
        true,
      );
    }
  }
  const register = new Register();
  const bypass = new Bypass();
  const sharedDefaults = new SharedDefaults();
  const events: RecordedEvent[] = [];
  const asked: string[] = [];
  const ended: string[] = [];
  const relisted: string[] = [];
  const woken: string[] = [];
  const wrote: string[] = [];
  const proofs: string[] = [];
  const script = {
    outcome: { kind: 'evicted' } as Outcome,
    mayWrite: true,
    serving: true,
    onRelist: () => {},
    /** What the ledger holds, where it is not what the pods say. */
    counts: null as TypeCounts | null,
    evidence: { kind: 'off' } as PlaceholderEvidence,
    policy: readPolicy({ workload: { 'spotalis.io/spot-percentage': '50' }, namespace: {}, defaults: {} }),
  };
  const logger: Logger = {
    error: () => undefined,
    warn: () => undefined,
    info: () => undefined,
    debug: () => undefined,
    child: () => logger,
  };
  const ledgers = new Ledgers({ cluster, ledger: undefined, verify: () => Promise.resolve() });
  const readLedger = async (workload: ObservedWorkload): Promise<LedgerReading> => {
    const read = await ledgers.read(workload);
    const { counts } = script;
    return counts === null ? read : { ...read, counts: new Map([['web-1-uid', counts]]) };
  };
  const relist = async (workload: ObservedWorkload): Promise<LedgerReading> => {
    relisted.push(workload.metadata.name);
    script.onRelist();
    return readLedger(workload);
  };
  const holds = new Holds(() => 0);
  const now = (): number => clock.nowMs;
  const executor = new Executor({
    arbiter: new Arbiter({
      register,
      budgets: () => ({ ...settings, maxRemovalsPerMinute: 100, ...change }),
      wake: (asker) => woken.push(asker),
      now,
    }),
    register,
    holds,
    stateOf: (uid, victim) => stateOf(cluster, uid, victim),
    evictor: {
      evict: (_namespace, { name }) => {
        asked.push(name);
        return Promise.resolve(script.outcome);
      },
      removeUnscheduled: () => Promise.resolve(script.outcome),
    },
    onCount: () => undefined,
    moveTimeoutMs: () => 600_000,
    now,
    logger,
  });
  const refusedAnnotations = new RefusedAnnotations(() => 0);
  const moves = new Moves({
    cluster,
    bypass,
    sharedDefaults,
    admissionOf: admissionsOf(
      cluster,
      () => script.policy,
      () => change.readOnly === true,
    ),
    tookOverAtMs: () => register.tookOverAtMs,
    metrics: { moved: (from, to, result) => ended.push(`${from} ${to} ${result}`) },
    now,
    logger,
  });
  const narrator = new Narrator({
    recorder: { record: (event) => events.push(event) },
    metrics: { blocked: () => undefined },
    logger,
  });
  const rebalancer = new Rebalancer({
    sources: {
      cluster,
      rooms,
      placeholders: { evidence: () => script.evidence },
      register,
      isSpent: (namespace) => executor.isSpent(namespace),
      holds,
      moves,
      refusedAnnotations,
      bypass,
      sharedDefaults,
      droughts: undefined,
      changes: new Changes(cluster, () => clock.nowMs),
      settings: () => ({ ...settings, ...change }),
      webhook: () =>
        script.serving ? (bypass.state ?? { kind: 'serving' }) : { kind: 'notServing', detail: 'down' },
    },
    executor,
    annotator: {
      want: (_workload, kind, changes) =>
        void wrote.push(`${kind} ${changes.map(({ pod, type }) => `${pod.name} ${type}`).join(', ')}`),
      drop: () => void wrote.push('nothing'),
    },
    holds,
    moves,
    refusedAnnotations,
    placeholders: {
      want: ({ uid, type }) => void proofs.push(`want ${type} for ${uid}`),
      keep: ({ uid, type }) => void proofs.push(`keep ${type} for ${uid}`),
      release: () => undefined,
      forget: () => undefined,
    },
    bridger: undefined,
    narrator,
    moveTimeoutMs: () => 600_000,
    relist,
    policyOf: () => script.policy,
    now,
  });
  const distribution = new Distribution({
    cluster,
    attention: { follow: () => () => undefined },
    reports: new Reports({
      cluster,
      problems: new Problems({ record: () => undefined }),
      isConfined: false,
      logger,
    }),
    policyOf: () => script.policy,
    ledgers: { read: readLedger, verified: relist },
    reaches: undefined,
    rebalancer,
    narrator,
    probe: { ask: () => Promise.resolve({ kind: 'serving' }) },
    isReadOnly: () => change.readOnly === true,
    duties: [],
    queue: { name: 'workload', workers: 1 },
    components: [],
    notes: {},
    known: () => ({}),
    resyncPeriodMs: Number.POSITIVE_INFINITY,
    random: () => 0,
  });
  const runner = aRunner(distribution, { executor, mayWrite: () => script.mayWrite, now });
  /** One look, so long after the last one. */
  const look = async (afterMs = 0, name = 'web') => {
    clock.nowMs += afterMs;
    return (await runner.look(`Deployment/shop/${name}`))?.requeueAfterMs;
  };
  const replace = (gone: string, name: string, type: 'spot' | 'on-demand', ready = true) => {
    cluster.pods.remove(`shop/${gone}`);
    const where = type === 'spot' ? 'spot-1' : 'od-1';
    cluster.pods.upsert(aPod(name, { node: where, ready, mark: mark(name, type, 0) }), false);
  };
  /** A move that is granted and confirmed at once. */
  const begin = (move: Move): void => {
    const uid = move.workloadUid;
    const asker = {
      subject: `distribution/${subject}`,
      disrupts: { uid, namespace: 'shop' },
      nowMs: clock.nowMs,
    };
    const pod = { name: move.pod, uid: `${move.pod}-uid`, resourceVersion: '1' };
    const intent = evictionFor(asker, 'SpotSurplus', {
      ...move,
      pod,
      node: null,
      evidence: 'od-1',
      pdb: null,
    });
    const hooks = moves.hooksOf(move);
    register.reserve(intent, clock.nowMs);
    register.begin({ intent, before: stateOf(cluster, uid), room: null, hooks }, clock.nowMs);
    hooks.began?.();
    register.sent(uid, 'taken');
  };
  return {
    cluster,
    clock,
    look,
    begin,
    replace,
    rebalancer,
    executor,
    woken,
    shown: () => narrator.shown(subject),
    register,
    moves,
    refusedAnnotations,
    bypass,
    sharedDefaults,
    events,
    asked,
    ended,
    relisted,
    wrote,
    proofs,
    script,
  };
}
