import {
  classifierOf,
  type NodeLabels,
  type ObservedClaim,
  type ObservedNamespace,
  type ObservedNode,
  type ObservedPdb,
  type ObservedPod,
  type ObservedReplicaSet,
  type ObservedVolume,
  type ObservedWorkload,
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
import { type ApiClient, ApiError, type RawObject, type Resource, resource, type View } from '@spotalis/kube';
import { CliError } from '../command/error.ts';

/** Everything of the cluster that a decision rests on, pruned. */
export interface Objects {
  readonly namespaces: readonly ObservedNamespace[];
  readonly nodes: readonly ObservedNode[];
  readonly workloads: readonly ObservedWorkload[];
  readonly replicaSets: readonly ObservedReplicaSet[];
  readonly pods: readonly ObservedPod[];
  readonly pdbs: readonly ObservedPdb[];
  readonly claims: readonly ObservedClaim[];
  readonly volumes: readonly ObservedVolume[];
  /** What could not be read, and what that means. */
  readonly notes: readonly string[];
}

/** One page is parsed at a time, whatever the size of the cluster. */
const PAGE = 500;

const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status === 403;

export interface FetchOptions {
  /** Of the command line. */
  readonly namespace: string;
  /** The only ones that may be managed; none: all. Where any is, only the one above and `home` are asked beside. */
  readonly listed: readonly string[];
  /** The namespace of the installation, where placeholders are; undefined: not known. */
  readonly home: string | undefined;
  /** No room counts but what a placeholder holds. */
  readonly onlyProven: boolean;
  readonly nodeLabels: NodeLabels;
  readonly signal: AbortSignal;
}

/** Lists in pages, each pruned before the next is asked for. A right over one namespace only is made do with. */
export async function fetchObjects(
  client: ApiClient,
  { namespace, listed, home, onlyProven, nodeLabels, signal }: FetchOptions,
): Promise<Objects> {
  const notes: string[] = [];
  const places = [...new Set([...listed, namespace])];
  const podPlaces = [...new Set([...places, ...(home === undefined ? [] : [home])])];
  if (listed.length > 0) {
    const consequence = onlyProven
      ? 'no room counts but what a placeholder holds'
      : 'nodes look emptier than they are';
    notes.push(`pods are read in ${podPlaces.join(', ')} only, by scope.namespaces: ${consequence}`);
  }
  if (onlyProven && home === undefined) {
    notes.push(
      'placeholders are not seen, because a configuration file does not tell the namespace of the installation',
    );
  }
  async function list<R extends RawObject, T>(
    of: Resource<R>,
    prune: (raw: R) => T | undefined,
    view: View = 'whole',
    within?: string,
  ): Promise<T[]> {
    const kept: T[] = [];
    const query = { limit: PAGE, view, ...(within !== undefined && { namespace: within }) };
    for await (const { items } of client.pages(of, query, { signal })) {
      for (const raw of items) {
        const object = prune(raw);
        if (object !== undefined) kept.push(object);
      }
    }
    return kept;
  }
  async function inEach<R extends RawObject, T>(
    of: Resource<R>,
    prune: (raw: R) => T | undefined,
    within: readonly string[],
  ): Promise<T[]> {
    const found = await Promise.allSettled(within.map((place) => list(of, prune, 'whole', place)));
    const failures = found.filter(({ status }) => status === 'rejected');
    for (const [index, each] of found.entries()) {
      if (each.status === 'fulfilled') continue;
      if (!isForbidden(each.reason) || failures.length === found.length) throw each.reason;
      notes.push(`${of.plural} may not be read in namespace ${within[index]}`);
    }
    return found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  }
  async function namespaced<R extends RawObject, T>(
    of: Resource<R>,
    prune: (raw: R) => T | undefined,
    consequence = '',
    within = places,
  ): Promise<T[]> {
    if (listed.length > 0) return inEach(of, prune, within);
    try {
      return await list(of, prune);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      notes.push(`${of.plural} may be read in namespace ${namespace} only${consequence}`);
      return list(of, prune, 'whole', namespace);
    }
  }
  async function optional<R extends RawObject, T>(
    of: Resource<R>,
    prune: (raw: R) => T | undefined,
    consequence: string,
  ): Promise<T[]> {
    try {
      return await list(of, prune);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      notes.push(`${of.plural} may not be read: ${consequence}`);
      return [];
    }
  }
  try {
    const [namespaces, nodes, deployments, statefulSets, replicaSets, pods, pdbs, claims, volumes] =
      await Promise.all([
        namespacesOf(client, list, places),
        optional(
          resource<RawNode>('v1', 'nodes', 'Node'),
          pruneNode(classifierOf(nodeLabels)),
          'types are what admission wrote',
        ),
        namespaced(
          resource<RawWorkload>('apps/v1', 'deployments', 'Deployment'),
          pruneWorkload('Deployment'),
        ),
        namespaced(
          resource<RawWorkload>('apps/v1', 'statefulsets', 'StatefulSet'),
          pruneWorkload('StatefulSet'),
        ),
        namespaced(resource<RawReplicaSet>('apps/v1', 'replicasets', 'ReplicaSet'), pruneReplicaSet),
        namespaced(
          resource<RawPod>('v1', 'pods', 'Pod'),
          prunePod,
          ': nodes look emptier than they are',
          podPlaces,
        ),
        namespaced(resource<RawPdb>('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget'), prunePdb),
        namespaced(resource<RawClaim>('v1', 'persistentvolumeclaims', 'PersistentVolumeClaim'), pruneClaim),
        optional(
          resource<RawVolume>('v1', 'persistentvolumes', 'PersistentVolume'),
          pruneVolume,
          'pods with volumes count as immovable',
        ),
      ]);
    const workloads = [...deployments, ...statefulSets];
    return { namespaces, nodes, workloads, replicaSets, pods, pdbs, claims, volumes, notes };
  } catch (error) {
    if (!isForbidden(error) || !(error instanceof ApiError)) throw error;
    throw new CliError(
      'FORBIDDEN',
      error.statusMessage,
      `Needed is the right to list deployments, statefulsets, replicasets, pods, poddisruptionbudgets and persistentvolumeclaims, and to get the namespace.`,
    );
  }
}

async function namespacesOf(
  client: ApiClient,
  list: <R extends RawObject, T>(of: Resource<R>, prune: (raw: R) => T, view: View) => Promise<T[]>,
  places: readonly string[],
): Promise<ObservedNamespace[]> {
  const of = resource('v1', 'namespaces', 'Namespace');
  try {
    return await list(of, pruneNamespace, 'metadata');
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const found = await Promise.allSettled(
      places.map(async (name) => pruneNamespace(await client.get(of, { name }, { view: 'metadata' }))),
    );
    const kept = found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const [first] = found;
    if (kept.length === 0 && first?.status === 'rejected') throw first.reason;
    return kept;
  }
}
