import {
  type BudgetUse,
  type CapacityType,
  type ClusterView,
  countPods,
  type DroughtState,
  evidenceOf,
  enabledLabel,
  hasSameDefaults,
  managedIn,
  type Managed,
  type MoveHistory,
  nodeViewOf,
  type Nodes,
  type ObservedClaim,
  type ObservedNamespace,
  type ObservedPdb,
  type ObservedPod,
  type ObservedReplicaSet,
  type ObservedVolume,
  type ObservedWorkload,
  type OtherDefaults,
  type PlaceholderEvidence,
  poolOf,
  policyIn,
  type PolicyReading,
  readPodMark,
  type RebalanceSnapshot,
  restsOnDefaults,
  snapshotOf,
  type WebhookState,
  type WorkloadKind,
} from '@spotalis/core';
import type { Settings } from './configuration.ts';
import type { DroughtNews } from './droughts.ts';
import type { Objects } from './fetch.ts';

/** What is known of a workload's moves beside what its objects say. */
export interface MoveFootprint {
  readonly history: MoveHistory | null;
  /** A replacement is on its way. */
  readonly inFlight: boolean;
}

export const noFootprint: MoveFootprint = { history: null, inFlight: false };

function grouped<T>(objects: Iterable<T>, keyOf: (object: T) => string | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const object of objects) {
    const key = keyOf(object);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [object]);
    else group.push(object);
  }
  return groups;
}

/** The cluster at one moment, as the controller would see it. */
export class Survey implements ClusterView {
  readonly notes: readonly string[];
  readonly workloads: readonly ObservedWorkload[];
  readonly nodes: Nodes;
  readonly settings: Settings;
  readonly webhook: WebhookState;
  readonly droughts: DroughtNews;
  readonly objects: Objects;
  readonly namespaces: ReadonlyMap<string, ObservedNamespace>;
  readonly claims: ReadonlyMap<string, ObservedClaim>;
  readonly volumes: ReadonlyMap<string, ObservedVolume>;
  readonly #types: ReadonlyMap<string, CapacityType | undefined>;
  readonly #podsByController: ReadonlyMap<string, readonly ObservedPod[]>;
  readonly #setsByController: ReadonlyMap<string, readonly ObservedReplicaSet[]>;
  #otherDefaults: OtherDefaults | null | undefined;

  constructor(objects: Objects, settings: Settings, webhook: WebhookState, droughts: DroughtNews) {
    this.objects = objects;
    this.settings = settings;
    this.webhook = webhook;
    this.droughts = droughts;
    this.notes = [...settings.notes, ...objects.notes, ...droughts.notes];
    this.workloads = objects.workloads;
    this.#podsByController = grouped(objects.pods, ({ controller }) => controller?.uid);
    this.#setsByController = grouped(objects.replicaSets, ({ controller }) => controller?.uid);
    const podsByNode = grouped(objects.pods, ({ nodeName }) => nodeName);
    this.nodes = new Map(
      objects.nodes.map((node) => {
        const { name } = node.metadata;
        const view = nodeViewOf(node, podsByNode.get(name) ?? []);
        return [name, settings.onlyProven ? { ...view, free: {} } : view];
      }),
    );
    this.#types = new Map(objects.nodes.map(({ metadata, type }) => [metadata.name, type]));
    this.namespaces = new Map(objects.namespaces.map((one) => [one.metadata.name, one]));
    this.claims = new Map(
      objects.claims.map((claim) => [`${claim.metadata.namespace ?? ''}/${claim.metadata.name}`, claim]),
    );
    this.volumes = new Map(objects.volumes.map((volume) => [volume.metadata.name, volume]));
  }

  workload(kind: WorkloadKind, namespace: string, name: string): ObservedWorkload | undefined {
    return this.workloads.find(
      ({ workloadKind, metadata }) =>
        workloadKind === kind && metadata.namespace === namespace && metadata.name === name,
    );
  }

  pod(namespace: string, name: string): ObservedPod | undefined {
    return this.objects.pods.find(
      ({ metadata }) => metadata.namespace === namespace && metadata.name === name,
    );
  }

  /** Undefined for a pod that no Deployment or StatefulSet made. */
  ownerOf({ controller }: ObservedPod): ObservedWorkload | undefined {
    if (controller === undefined) return undefined;
    const set = this.objects.replicaSets.find(({ metadata }) => metadata.uid === controller.uid);
    const uid = set === undefined ? controller.uid : set.controller?.uid;
    return this.workloads.find(({ metadata }) => metadata.uid === uid);
  }

  replicaSetsOf({ metadata }: ObservedWorkload): readonly ObservedReplicaSet[] {
    return this.#setsByController.get(metadata.uid) ?? [];
  }

  podsOf(workload: ObservedWorkload): readonly ObservedPod[] {
    const owners =
      workload.workloadKind === 'StatefulSet'
        ? [workload.metadata.uid]
        : this.replicaSetsOf(workload).map(({ metadata }) => metadata.uid);
    return owners.flatMap((uid) => this.#podsByController.get(uid) ?? []);
  }

  isNamespaceLabelled(name: string): boolean {
    return this.namespaces.get(name)?.labels[enabledLabel] === 'true';
  }

  pdbsIn(namespace: string): readonly ObservedPdb[] {
    return this.objects.pdbs.filter(({ metadata }) => metadata.namespace === namespace);
  }

  nodeTypeOf({ nodeName }: ObservedPod): CapacityType | undefined {
    return nodeName === undefined ? undefined : this.#types.get(nodeName);
  }

  managedOf(workload: ObservedWorkload): Managed {
    const namespace = this.namespaces.get(workload.metadata.namespace ?? '');
    return managedIn(namespace, workload, this.settings.values.scope);
  }

  policyOf(workload: ObservedWorkload): PolicyReading {
    return policyIn(this, workload, this.settings.defaults);
  }

  /**
   * What the controller would decide on. It has three things that nobody else can see: the ledger, for which the pods
   * stand in here; the breakers, of which its bulletin tells; and the moves it has under way, of which Events and pods
   * tell most.
   */
  snapshotOf(
    workload: ObservedWorkload,
    { history, inFlight }: MoveFootprint = noFootprint,
  ): RebalanceSnapshot {
    return snapshotOf(this, workload, {
      managed: this.managedOf(workload),
      policy: this.policyOf(workload),
      changes: { policyChangedAtMs: null, replicasChangedAtMs: null, podGoneAtMs: null },
      ledgers: new Map(
        this.replicaSetsOf(workload).map(({ metadata: { uid } }) => [
          uid,
          countPods(this.#podsByController.get(uid) ?? [], this),
        ]),
      ),
      history,
      budgets: { ...noMoves, workload: inFlight ? 1 : 0 },
      nodes: this.nodes,
      placeholders: {
        spot: this.#placeholderOf(workload, 'spot'),
        'on-demand': this.#placeholderOf(workload, 'on-demand'),
      },
      ledger: { kind: 'reachable' },
      webhook: this.webhook,
      refused: { evict: null, annotate: null },
      unseen: null,
      otherDefaults: this.#otherDefaultsSeen(),
      drought: this.droughtOf(workload),
      settings: this.settings.rebalance,
    });
  }

  /** The leader goes by replacements, and pods do not tell which of them are some: the newest of all says the most. */
  #otherDefaultsSeen(): OtherDefaults | null {
    if (this.#otherDefaults === undefined) {
      this.#otherDefaults = this.#newestHasSameDefaults() === false ? { nextTrialAtMs: null } : null;
    }
    return this.#otherDefaults;
  }

  /** Of those that were admitted since the configuration was written; null where none can tell. */
  #newestHasSameDefaults(): boolean | null {
    const { writtenAtMs } = this.settings;
    if (writtenAtMs === null) return null;
    let newestAtMs = writtenAtMs;
    let isSame: boolean | null = null;
    for (const workload of this.workloads) {
      const policy = this.policyOf(workload);
      if (!restsOnDefaults(policy) || !this.managedOf(workload).managed) continue;
      for (const { createdAtMs, annotations } of this.podsOf(workload)) {
        const { numbers } = readPodMark(annotations);
        if (numbers === null || createdAtMs < newestAtMs) continue;
        newestAtMs = createdAtMs;
        isSame = hasSameDefaults(policy, numbers);
      }
    }
    return isSame;
  }

  /** As the controller told; unwatched where it cannot be heard. */
  droughtOf(workload: ObservedWorkload): DroughtState {
    const { assumed, values } = this.settings;
    if (!assumed && (values.redis.url?.startsWith('memory:') ?? false)) return { kind: 'unbridgeable' };
    const { isKnown, reports, openPools } = this.droughts;
    const report = reports.get(workload.metadata.uid) ?? null;
    if (report === null && !isKnown) return { kind: 'unwatched' };
    const poolIsOpen = report?.poolIsOpen ?? (openPools.size > 0 && openPools.has(this.#poolOf(workload)));
    return { kind: 'told', report, poolIsOpen };
  }

  #poolOf(workload: ObservedWorkload): string {
    const { rollout } = workload;
    const { placement } = this.settings.rebalance;
    if (rollout.kind === 'StatefulSet') return poolOf(rollout.template.spec, placement);
    const newest = this.replicaSetsOf(workload).findLast(({ replicas }) => replicas > 0);
    return poolOf(newest?.template.spec ?? {}, placement);
  }

  #placeholderOf({ metadata }: ObservedWorkload, type: CapacityType): PlaceholderEvidence {
    const found = this.objects.pods.find(
      ({ placeholder }) => placeholder?.workloadUid === metadata.uid && placeholder.type === type,
    );
    return (found && evidenceOf(found)) ?? { kind: 'none' };
  }
}

const noMoves: BudgetUse = { workload: 0, nodes: new Map(), spent: false };
