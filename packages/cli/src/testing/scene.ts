import {
  deletionCost,
  type DroughtReport,
  placeholderKeys,
  type PolicyNumbers,
  pruneNamespace,
  pruneNode,
  prunePdb,
  prunePod,
  pruneReplicaSet,
  pruneWorkload,
  type RawPdb,
  type RawPod,
  type RawWorkload,
  type WebhookState,
  writeBulletin,
} from '@spotalis/core';
import { readSettings, type Settings } from '../cluster/configuration.ts';
import { type DroughtNews, newsOf } from '../cluster/droughts.ts';
import { Survey } from '../cluster/survey.ts';

/** A Wednesday noon. */
export const NOON = Date.UTC(2026, 3, 15, 12);
const earlier = new Date(NOON - 3_600_000).toISOString();
const enabled = { 'spotalis.io/enabled': 'true' };
const capacityKey = 'karpenter.sh/capacity-type';

interface PodPlan {
  readonly name: string;
  readonly type?: 'spot' | 'on-demand';
  /** Undefined: the first node of its type; null: none yet. */
  readonly node?: string | null;
  readonly ready?: boolean;
  /** The scheduler has found no node for it in the last minute. */
  readonly unschedulable?: boolean;
  readonly createdAt?: string;
  /** Without it admission never saw it. */
  readonly rank?: number | null;
  readonly numbers?: PolicyNumbers;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly bare?: boolean;
  /** Holds room for `web` on its node. */
  readonly placeholder?: boolean;
}

export interface Scene {
  readonly kind?: 'Deployment' | 'StatefulSet';
  readonly labels?: Readonly<Record<string, string>>;
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly pods: readonly PodPlan[];
  readonly replicas?: number;
  readonly templateSpec?: object;
  readonly cordoned?: readonly string[];
  readonly noSpot?: boolean;
  readonly pdbs?: readonly RawPdb[];
  readonly webhook?: WebhookState;
  /** What the controller tells of droughts; without it, that there is none. */
  readonly droughts?: DroughtNews;
  readonly rebalance?: object;
  /** More of the configuration file. */
  readonly configuration?: object;
  /** When its ConfigMap was written last. */
  readonly configuredAt?: string;
  readonly templateAnnotations?: Readonly<Record<string, string>>;
  /** Their labels by name, instead of the usual ones. */
  readonly nodes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** `spot` and `onDemand` pods as admission marks them. */
export function podsOf(spot: number, onDemand: number, numbers: PolicyNumbers): readonly PodPlan[] {
  return [
    ...Array.from({ length: spot }, (_, rank) => ({
      name: `web-s${rank}`,
      type: 'spot' as const,
      rank,
      numbers,
    })),
    ...Array.from({ length: onDemand }, (_, rank) => ({
      name: `web-o${rank}`,
      type: 'on-demand' as const,
      rank,
      numbers,
    })),
  ];
}

export const ask = (percentage: number, floor: number): Record<string, string> => ({
  'spotalis.io/spot-percentage': String(percentage),
  'spotalis.io/min-on-demand': String(floor),
});

const meta = (name: string, more: object = {}) => ({
  name,
  uid: `${name}-uid`,
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: earlier,
  ...more,
});

const owner = (kind: string, name: string) => [
  { apiVersion: 'apps/v1', kind, name, uid: `${name}-uid`, controller: true },
];

const placeholderLabels = (type: string) => ({
  [placeholderKeys.workload]: 'web-uid',
  [placeholderKeys.capacityType]: type,
});

const unscheduled = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'Unschedulable',
  lastTransitionTime: new Date(NOON - 60_000).toISOString(),
};

function rawPod(plan: PodPlan, kind: Scene['kind']): RawPod {
  const { name, type = 'spot', rank, numbers, ready = true, bare = false } = plan;
  const node = plan.node === undefined ? `${type === 'spot' ? 'spot' : 'od'}-1` : plan.node;
  const mark: Record<string, string> = {};
  if (rank !== undefined) {
    mark['spotalis.io/reservation'] = `${name}-token`;
    mark['spotalis.io/capacity-type'] = type;
    if (rank !== null) mark['spotalis.io/rank'] = String(rank);
    if (numbers !== undefined) {
      mark['spotalis.io/policy'] = `${numbers.spotPercentage}/${numbers.minOnDemand}`;
      if (rank !== null) {
        mark['controller.kubernetes.io/pod-deletion-cost'] = String(deletionCost(numbers, type, rank));
      }
    }
  }
  return {
    metadata: meta(name, {
      namespace: plan.placeholder === true ? 'spotalis' : 'shop',
      creationTimestamp: plan.createdAt ?? earlier,
      labels: plan.placeholder === true ? placeholderLabels(type) : { app: 'web', 'pod-template-hash': 'r1' },
      annotations: { ...mark, ...plan.annotations },
      ...(bare || plan.placeholder === true
        ? {}
        : { ownerReferences: kind === 'StatefulSet' ? owner(kind, 'web') : owner('ReplicaSet', 'web-r1') }),
    }),
    spec: { ...(node !== null && { nodeName: node }) },
    status: {
      phase: node === null ? 'Pending' : 'Running',
      conditions: [
        { type: 'Ready', status: ready && node !== null ? 'True' : 'False' },
        ...(plan.unschedulable === true ? [unscheduled] : []),
      ],
    },
  };
}

const rawNode = (name: string, type: string | undefined, cordoned: boolean) =>
  labelledNode(name, type === undefined ? {} : { [capacityKey]: type }, cordoned);

const labelledNode = (name: string, labels: Readonly<Record<string, string>>, cordoned: boolean) => ({
  metadata: meta(name, { labels }),
  spec: { unschedulable: cordoned },
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
    allocatable: { cpu: '16', memory: '64Gi', pods: '110' },
  },
});

async function settingsOf({
  rebalance = {},
  configuration = {},
  configuredAt = earlier,
}: Scene): Promise<Settings> {
  const answer = {
    'spotalis.yaml': JSON.stringify({ redis: { url: 'redis://redis:6379' }, rebalance, ...configuration }),
  };
  const metadata = {
    ...meta('spotalis-controller'),
    namespace: 'spotalis',
    managedFields: [{ time: earlier }, { time: configuredAt }],
  };
  const map = { metadata, data: answer };
  const client = { list: () => Promise.resolve({ items: [map], resourceVersion: '1' }) };
  return readSettings(client as unknown as Parameters<typeof readSettings>[0], undefined);
}

/** A cluster with one workload `web`, and two nodes of each type and one of neither. */
export async function surveyOf(scene: Scene): Promise<Survey> {
  const { kind = 'Deployment', pods, templateSpec = {}, cordoned = [], noSpot = false } = scene;
  const annotations = scene.templateAnnotations ?? {};
  const own = pods.filter(({ bare = false, placeholder = false }) => !bare && !placeholder);
  const replicas = scene.replicas ?? own.length;
  const ready = own.filter(({ ready: isReady = true, node }) => isReady && node !== null).length;
  const raw: RawWorkload = {
    metadata: meta('web', {
      namespace: 'shop',
      labels: scene.labels ?? enabled,
      annotations: scene.annotations ?? ask(70, 2),
    }),
    spec: { replicas, template: { metadata: { labels: { app: 'web' }, annotations }, spec: templateSpec } },
    status: { observedGeneration: 1, updatedReplicas: replicas, availableReplicas: ready },
  };
  const sets =
    kind === 'StatefulSet'
      ? []
      : [
          pruneReplicaSet({
            metadata: meta('web-r1', {
              namespace: 'shop',
              labels: { 'pod-template-hash': 'r1' },
              ownerReferences: owner('Deployment', 'web'),
            }),
            spec: {
              replicas,
              template: {
                metadata: { labels: { app: 'web', 'pod-template-hash': 'r1' }, annotations },
                spec: templateSpec,
              },
            },
          }),
        ];
  const nodes = scene.nodes
    ? Object.entries(scene.nodes).map(([name, labels]) => labelledNode(name, labels, false))
    : [
        ...(noSpot
          ? []
          : [
              rawNode('spot-1', 'spot', cordoned.includes('spot-1')),
              rawNode('spot-2', 'spot', cordoned.includes('spot-2')),
            ]),
        rawNode('od-1', 'on-demand', false),
        rawNode('od-2', 'on-demand', false),
        rawNode('plain', undefined, false),
      ];
  const classify = (labels: Readonly<Record<string, string>>) => {
    const type = labels[capacityKey];
    return type === 'spot' || type === 'on-demand' ? type : undefined;
  };
  return new Survey(
    {
      namespaces: [
        pruneNamespace({
          metadata: meta('shop', {
            labels: scene.namespaceLabels ?? enabled,
            annotations: scene.namespaceAnnotations ?? {},
          }),
        }),
      ],
      nodes: nodes.map(pruneNode(classify)),
      workloads: [pruneWorkload(kind)(raw)],
      replicaSets: sets,
      pods: pods.flatMap((plan) => prunePod(rawPod(plan, kind)) ?? []),
      pdbs: (scene.pdbs ?? []).map(prunePdb),
      claims: [],
      volumes: [],
      notes: [],
    },
    await settingsOf(scene),
    scene.webhook ?? { kind: 'serving' },
    scene.droughts ?? newsOf([{ object: 'ConfigMap spotalis-system/spotalis-droughts', text: undefined }]),
  );
}

/** With this many healthy pods, of which `needed` must stay so. */
export const pdb = (name: string, healthy: number, needed: number): RawPdb => ({
  metadata: { ...meta(name), namespace: 'shop' },
  spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: needed },
  status: {
    observedGeneration: 1,
    disruptionsAllowed: Math.max(0, healthy - needed),
    currentHealthy: healthy,
    expectedPods: healthy,
  },
});

/** That `web` is in a drought, as a controller told a minute ago. */
export const drought = (report: Partial<DroughtReport> = {}): DroughtNews =>
  newsOf([
    {
      object: 'ConfigMap spotalis-system/spotalis-droughts',
      text: writeBulletin({
        writer: 'spotalis-controller-1',
        writtenAtMs: NOON - 60_000,
        omitted: 0,
        droughts: [
          {
            kind: 'Deployment',
            namespace: 'shop',
            name: 'web',
            uid: 'web-uid',
            state: 'open',
            sinceMs: NOON - 180_000,
            nextProbeAtMs: NOON + 120_000,
            pool: 'spot',
            poolIsOpen: false,
            ...report,
          },
        ],
      }),
    },
  ]);
