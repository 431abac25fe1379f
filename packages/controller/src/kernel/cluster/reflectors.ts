import {
  type CapacityType,
  type Labels,
  type Placement,
  pruneClaim,
  pruneNamespace,
  pruneNode,
  prunePdb,
  prunePod,
  pruneReplicaSet,
  pruneVolume,
  pruneWorkload,
  type RawClaim,
  type RawNode,
  type RawPdb,
  type RawPod,
  type RawReplicaSet,
  type RawVolume,
  type RawWorkload,
} from '@spotalis/core';
import {
  type ApiClient,
  type KubeObject,
  type RawObject,
  ReflectorGroup,
  type ReflectorObserver,
  resource,
  type Resource,
  type Store,
} from '@spotalis/kube';
import { type Component, type StartContext, unlessStopped } from '@spotalis/runtime';
import type { Cluster } from './cluster.ts';
import { likeSiblings } from './siblings.ts';

export interface ReflectorsParts {
  readonly client: ApiClient;
  readonly cluster: Cluster;
  /** Where workloads are looked for, and nothing is asked outside of them. None: everywhere. */
  readonly namespaces: readonly string[];
  /** The controller's own, where its pods and placeholders are. */
  readonly ownNamespace: string;
  readonly classify: (labels: Labels) => CapacityType | undefined;
  readonly placement: Placement;
  readonly observer: (name: string) => ReflectorObserver;
}

/** Bookmarks come every minute; a silent watch is given up after 90 s. */
const FOLLOWED_MS = 90_000;

interface Running {
  readonly name: string;
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  lastEventAgeMs(): number | undefined;
  start(): void;
  stop(): Promise<void>;
}

/** Mirrors everything of the cluster that counts; has started once the first lists are complete. */
export class Reflectors implements Component {
  readonly name = 'reflectors';
  /** The first list of a large cluster, on an API server that is busy. */
  readonly startDeadlineMs = 300_000;
  readonly #reflectors: readonly Running[];

  constructor(parts: ReflectorsParts) {
    const { client, cluster, namespaces, ownNamespace, classify, placement, observer } = parts;
    // What is of no namespace; what is where workloads are; and what is where the controller is, too.
    const everywhere: readonly string[] = [];
    const atHome = namespaces.length === 0 ? namespaces : [...namespaces, ownNamespace];
    // Its role went with it. Without it there is nothing to follow, and the others must not wait.
    const isAbsent = (name: string): boolean =>
      present.hasSynced() && cluster.namespaces.get(name) === undefined;
    const mirror = <R extends RawObject, T extends KubeObject>(
      of: Resource<R>,
      store: Store<T, string>,
      prune: (raw: R) => T | undefined,
      within: readonly string[],
      view: 'whole' | 'metadata' = 'whole',
    ): Running => {
      const reflector = new ReflectorGroup({
        client,
        resource: of,
        namespaces: within,
        isAbsent,
        store,
        prune,
        select: { view },
        observer: observer(of.plural),
      });
      return Object.assign(reflector, { name: of.plural });
    };
    const alike = likeSiblings(cluster);
    const present = mirror(
      resource('v1', 'namespaces', 'Namespace'),
      cluster.namespaces,
      pruneNamespace,
      everywhere,
      'metadata',
    );
    this.#reflectors = [
      present,
      mirror(resource<RawNode>('v1', 'nodes', 'Node'), cluster.nodes, pruneNode(classify), everywhere),
      mirror(
        resource<RawWorkload>('apps/v1', 'deployments', 'Deployment'),
        cluster.deployments,
        pruneWorkload('Deployment'),
        atHome,
      ),
      mirror(
        resource<RawWorkload>('apps/v1', 'statefulsets', 'StatefulSet'),
        cluster.statefulSets,
        pruneWorkload('StatefulSet'),
        namespaces,
      ),
      mirror(
        resource<RawReplicaSet>('apps/v1', 'replicasets', 'ReplicaSet'),
        cluster.replicaSets,
        pruneReplicaSet,
        atHome,
      ),
      mirror(
        resource<RawPod>('v1', 'pods', 'Pod'),
        cluster.pods,
        (raw) => {
          const pod = prunePod(raw, placement);
          return pod && alike(pod);
        },
        atHome,
      ),
      mirror(
        resource<RawPdb>('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget'),
        cluster.pdbs,
        prunePdb,
        namespaces,
      ),
      mirror(
        resource<RawClaim>('v1', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
        cluster.claims,
        pruneClaim,
        namespaces,
      ),
      mirror(
        resource<RawVolume>('v1', 'persistentvolumes', 'PersistentVolume'),
        cluster.volumes,
        pruneVolume,
        everywhere,
      ),
    ];
  }

  /** For readiness: true, or what is still missing. */
  readonly check = (): true | string => {
    const missing = this.#reflectors.filter((reflector) => !reflector.hasSynced());
    return missing.length === 0 || `not listed yet: ${missing.map(({ name }) => name).join(', ')}`;
  };

  /** Whether the API server has said something on the watch of pods lately. */
  readonly podsAreFollowed = (): boolean => {
    const ageMs = this.#reflectors.find(({ name }) => name === 'pods')?.lastEventAgeMs();
    return ageMs !== undefined && ageMs < FOLLOWED_MS;
  };

  async start({ signal }: StartContext): Promise<void> {
    for (const reflector of this.#reflectors) reflector.start();
    await unlessStopped(signal, Promise.all(this.#reflectors.map(({ synced }) => synced)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.stop()));
  }
}
