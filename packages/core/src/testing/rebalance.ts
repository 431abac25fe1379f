import { preparePlacement } from '../capacity/placement.ts';
import type { CapacityType } from '../capacity/type.ts';
import { deletionCost } from '../policy/slot.ts';
import type { PolicyNumbers } from '../policy/target.ts';
import { foreignKeys, podKeys } from '../policy/keys.ts';
import type { ValidPolicy } from '../policy/policy.ts';
import type { NodeView } from '../cluster/node.ts';
import type { PdbView } from '../cluster/pdb.ts';
import { noVolumes, type WorkloadPod } from '../cluster/workload-pod.ts';
import type { DroughtState, RebalanceSettings, RebalanceSnapshot } from '../distribution/moves/snapshot.ts';
import type { DeploymentView, RevisionView, StatefulSetView, TemplateView } from '../cluster/workload.ts';
import { nodeLabelsOf } from './nodes.ts';

/** A Wednesday noon. */
export const NOON = Date.UTC(2026, 3, 15, 12);
const AN_HOUR = 3_600_000;

export const typeKey = 'karpenter.sh/capacity-type';
export const nodeLabels = nodeLabelsOf(`${typeKey}=spot`, `${typeKey}=on-demand`);

export const settings: RebalanceSettings = {
  readOnly: false,
  window: null,
  cooldownMs: 10_000,
  minPodAgeMs: 60_000,
  allowSingleReplica: false,
  maxMovesPerMinute: 60,
  maxInFlight: { cluster: 20, namespace: 5, node: 1, workload: 1 },
  fallback: { maxRemovalsPerMinute: 100, backoff: { initialMs: 60_000, maxMs: 1_800_000 } },
  placement: preparePlacement(nodeLabels, {
    tolerations: [],
    affinity: { spot: [], 'on-demand': [] },
    spreadSpotOverZones: false,
  }),
};

export function node(name: string, type: CapacityType | 'unknown', change: Partial<NodeView> = {}): NodeView {
  const room = { cpu: 64_000, memory: 2 ** 38, pods: 110 };
  return {
    name,
    type,
    labels: {
      'kubernetes.io/hostname': name,
      ...(type === 'unknown' ? {} : { [typeKey]: type }),
      ...change.labels,
    },
    ready: true,
    cordoned: false,
    taints: [],
    allocatable: room,
    free: room,
    ...Object.fromEntries(Object.entries(change).filter(([key]) => key !== 'labels')),
  };
}

export const nodesOf = (...nodes: readonly NodeView[]): ReadonlyMap<string, NodeView> =>
  new Map(nodes.map((one) => [one.name, one]));

export const bothNodes = nodesOf(node('spot-1', 'spot'), node('od-1', 'on-demand'));

export const template: TemplateView = {
  metadata: { labels: { app: 'web', [foreignKeys.podTemplateHash]: 'r1' } },
  spec: {},
  requests: { cpu: 100, memory: 2 ** 27 },
  hostPort: false,
};

export interface PodOptions extends Partial<WorkloadPod> {
  readonly type?: CapacityType | null;
  readonly rank?: number | null;
  readonly numbers?: PolicyNumbers;
}

const homes: Readonly<Record<CapacityType, string>> = { spot: 'spot-1', 'on-demand': 'od-1' };

/** A Ready pod an hour old, as admission marks it. */
export function pod(name: string, options: PodOptions = {}): WorkloadPod {
  const { type = 'spot', rank = 0, numbers, annotations, ...change } = options;
  const mark: Record<string, string> = {};
  if (type !== null) mark[podKeys.capacityType] = type;
  if (type !== null && rank !== null) {
    mark[podKeys.rank] = String(rank);
    if (numbers !== undefined) mark[foreignKeys.podDeletionCost] = String(deletionCost(numbers, type, rank));
  }
  return {
    uid: `uid-${name}`,
    name,
    resourceVersion: '1',
    controller: { kind: 'ReplicaSet', uid: 'rs-1' },
    labels: { app: 'web', [foreignKeys.podTemplateHash]: 'r1' },
    phase: 'Running',
    ready: true,
    terminating: false,
    unschedulableSinceMs: null,
    holdup: null,
    nodeName: type === null ? null : homes[type],
    createdAtMs: NOON - AN_HOUR,
    startedAtMs: NOON - AN_HOUR,
    priority: 0,
    volumes: noVolumes,
    ...change,
    annotations: { ...mark, ...annotations },
  };
}

/** The same pod in another state. */
export const altered = (one: WorkloadPod, change: Partial<WorkloadPod>): WorkloadPod => ({
  ...one,
  ...change,
});

/** The same pod with more annotations. */
export const annotated = (one: WorkloadPod, annotations: WorkloadPod['annotations']): WorkloadPod => ({
  ...one,
  annotations: { ...one.annotations, ...annotations },
});

/** `spot` and `onDemand` pods with the ranks that admission would have given them. */
export function podsOf(spot: number, onDemand: number, numbers: PolicyNumbers): readonly WorkloadPod[] {
  return [
    ...Array.from({ length: spot }, (_, rank) => pod(`s${rank}`, { type: 'spot', rank, numbers })),
    ...Array.from({ length: onDemand }, (_, rank) => pod(`o${rank}`, { type: 'on-demand', rank, numbers })),
  ];
}

export function policy(
  spotPercentage: number,
  minOnDemand: number,
  change: Partial<ValidPolicy> = {},
): ValidPolicy {
  const numbers = { spotPercentage, minOnDemand };
  return {
    kind: 'valid',
    numbers,
    defaulted: [],
    window: null,
    fallbackAfterMs: 120_000,
    paused: false,
    problems: [],
    ...change,
  };
}

export const revision = (replicas: number, change: Partial<RevisionView> = {}): RevisionView => ({
  uid: 'rs-1',
  name: 'web-r1',
  replicas,
  template,
  ledger: null,
  ...change,
});

const steady = (replicas: number) => ({
  namespace: 'shop',
  name: 'web',
  uid: 'workload-1',
  deleting: false,
  generation: 3,
  observedGeneration: 3,
  replicas,
  updatedReplicas: replicas,
  availableReplicas: replicas,
  policyChangedAtMs: null,
  replicasChangedAtMs: null,
  podGoneAtMs: null,
});

export function deployment(replicas: number, change: Partial<DeploymentView> = {}): DeploymentView {
  return {
    ...steady(replicas),
    kind: 'Deployment',
    paused: false,
    strategy: { type: 'RollingUpdate', maxUnavailable: '25%' },
    revisions: replicas === 0 ? [] : [revision(replicas)],
    ...change,
  };
}

export function statefulSet(replicas: number, change: Partial<StatefulSetView> = {}): StatefulSetView {
  return {
    ...steady(replicas),
    kind: 'StatefulSet',
    podManagement: 'Parallel',
    strategy: { type: 'RollingUpdate', partition: 0 },
    firstOrdinal: 0,
    currentRevision: 'a',
    updateRevision: 'a',
    template: { ...template, metadata: { labels: { app: 'web' } } },
    ...change,
  };
}

export const ordinalPod = (ordinal: number, type: CapacityType, options: PodOptions = {}): WorkloadPod =>
  pod(`web-${ordinal}`, {
    type,
    rank: null,
    controller: { kind: 'StatefulSet', uid: 'workload-1' },
    ...options,
  });

/** A breaker that is closed, and nothing known from others. */
export const quiet: Extract<DroughtState, { kind: 'watched' }> = {
  kind: 'watched',
  breaker: { state: 'closed' },
  recorded: false,
  permit: { permits: 0, takenAtMs: null },
  shapes: bothNodes,
  pool: { kind: 'closed' },
  mayProbe: true,
  deferral: null,
};

export function pdb(change: Partial<PdbView> = {}): PdbView {
  return {
    name: 'web',
    selector: { matchLabels: { app: 'web' } },
    minAvailable: null,
    maxUnavailable: 1,
    unhealthyPodEvictionPolicy: 'IfHealthyBudget',
    generation: 1,
    observedGeneration: 1,
    disruptionsAllowed: 1,
    currentHealthy: 10,
    expectedPods: 10,
    ...change,
  };
}

/**
 * A managed, steady workload with nothing in the way: a Deployment of the pods given, whose ledger agrees with them
 * and whose status follows from them.
 */
export function snapshot(change: Partial<RebalanceSnapshot> = {}): RebalanceSnapshot {
  const numbers = { spotPercentage: 70, minOnDemand: 1 };
  const pods = change.pods ?? podsOf(7, 3, numbers);
  return {
    managed: { managed: true },
    policy: policy(70, 1),
    workload: deploymentOf(pods),
    pods,
    pdbs: [],
    history: null,
    budgets: { workload: 0, nodes: new Map(), spent: false },
    nodes: bothNodes,
    placeholders: { spot: { kind: 'off' }, 'on-demand': { kind: 'off' } },
    ledger: { kind: 'reachable' },
    webhook: { kind: 'serving' },
    refused: { evict: null, annotate: null },
    unseen: null,
    otherDefaults: null,
    drought: quiet,
    settings,
    ...change,
  };
}

/** Its ledger believes what the pods are marked with, or are by the names of `pod`'s nodes. */
export function deploymentOf(
  pods: readonly WorkloadPod[],
  change: Partial<DeploymentView> = {},
): DeploymentView {
  const spot = pods.filter((one) => one.annotations[podKeys.capacityType] === 'spot').length;
  const onDemand = pods.filter((one) => one.annotations[podKeys.capacityType] === 'on-demand').length;
  return deployment(pods.length, {
    availableReplicas: pods.filter(({ ready }) => ready).length,
    revisions: [revision(pods.length, { ledger: { spot, onDemand } })],
    ...change,
  });
}
