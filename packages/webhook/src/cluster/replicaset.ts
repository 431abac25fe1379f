import { type ApiClient, ApiError, type RawObject, resource } from '@spotalis/kube';
import type { ReplicaCount, ReplicaSetBirth } from '@spotalis/ledger';

export interface RawReplicaSet extends RawObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly observedGeneration?: number; readonly replicas?: number };
}

export const replicaSets = resource<RawReplicaSet>('apps/v1', 'replicasets', 'ReplicaSet');

/** Which ReplicaSet; another one may have its name. */
export interface ReplicaSetRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What one read shows of a ReplicaSet. */
export interface ReplicaSetReading {
  readonly replicas: ReplicaCount;
  readonly birth: ReplicaSetBirth;
}

export interface LiveReplicaSet extends ReplicaSetReading {
  /** The Deployment it belongs to; undefined when it stands alone or belongs to something else. */
  readonly deployment: { readonly uid: string; readonly name: string } | undefined;
}

/** A quorum GET: no resourceVersion, so the API server answers from etcd. */
export async function getReplicaSet(
  client: ApiClient,
  { namespace, name, uid }: ReplicaSetRef,
  deadlineMs: number,
): Promise<LiveReplicaSet | undefined> {
  const found = await getOrUndefined(() => client.get(replicaSets, { namespace, name }, { deadlineMs }));
  return found?.metadata.uid === uid ? readingOf(found) : undefined;
}

export function readingOf({ metadata, spec, status }: RawReplicaSet): LiveReplicaSet {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return {
    replicas: { replicas: spec?.replicas ?? 1, resourceVersion: metadata.resourceVersion },
    birth: {
      createdAtMs: Date.parse(metadata.creationTimestamp ?? '') || 0,
      untouched: (status?.observedGeneration ?? 0) === 0 && (status?.replicas ?? 0) === 0,
    },
    deployment:
      owner?.kind === 'Deployment' && owner.apiVersion.startsWith('apps/')
        ? { uid: owner.uid, name: owner.name }
        : undefined,
  };
}

export async function getOrUndefined<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) {
      return undefined;
    }
    throw error;
  }
}
