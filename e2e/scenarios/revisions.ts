import type { Cluster, KubeObject } from '@spotalis/cluster';
import { Follower } from '../workloads/follower.ts';
import { type Pod, type Split, splitOf } from '../workloads/workload.ts';

interface ReplicaSet extends KubeObject {
  readonly spec: { readonly replicas?: number };
}

type Observed = ReplicaSet & Pod;

/** What became true at one version of the cluster, of which there is one for all kinds of objects. */
export type RevisionMoment = { readonly version: number } & (
  | { readonly revision: string; readonly replicas: number }
  | { readonly pod: Pod; readonly uid: string; readonly ended: boolean }
);

const versionOf = ({ metadata }: KubeObject): number => Number(metadata?.resourceVersion);

function replicasMoment(set: ReplicaSet, isGone: boolean): RevisionMoment {
  return {
    version: versionOf(set),
    revision: set.metadata?.uid ?? '',
    replicas: isGone ? 0 : (set.spec.replicas ?? 1),
  };
}

function podMoment(pod: Pod, isGone: boolean): RevisionMoment {
  const ended = isGone || pod.metadata?.deletionTimestamp !== undefined;
  return { version: versionOf(pod), pod, uid: pod.metadata?.uid ?? '', ended };
}

/**
 * The splits of all revisions that have pods, whenever more than one has, and each has as many as it was asked for:
 * amid a batch, the pods that are there are any of those that were decided on.
 */
export function restsOf(moments: readonly RevisionMoment[]): readonly (readonly Split[])[] {
  const asked = new Map<string, number>();
  const live = new Map<string, Pod>();
  const rests: (readonly Split[])[] = [];
  let wasAtRest = false;
  for (const moment of moments.toSorted((a, b) => a.version - b.version)) {
    if ('revision' in moment) asked.set(moment.revision, moment.replicas);
    else if (moment.ended) live.delete(moment.uid);
    else live.set(moment.uid, moment.pod);
    const revisions = [...asked].map(([revision, replicas]) => {
      const pods = [...live.values()].filter(
        ({ metadata }) => metadata?.ownerReferences?.[0]?.uid === revision,
      );
      return { replicas, pods };
    });
    const isAtRest = revisions.every(({ replicas, pods }) => pods.length === replicas);
    const withPods = revisions.filter(({ pods }) => pods.length > 0);
    if (isAtRest && !wasAtRest && withPods.length > 1) rests.push(withPods.map(({ pods }) => splitOf(pods)));
    wasAtRest = isAtRest;
  }
  return rests;
}

/** The revisions of the only Deployment of a namespace, from watches: nothing between two looks is missed. */
export class Revisions {
  readonly #moments: RevisionMoment[] = [];
  readonly #follower: Follower;

  static async follow(cluster: Cluster, namespace: string): Promise<Revisions> {
    const revisions = new Revisions(cluster);
    await revisions.#begin(`/apis/apps/v1/namespaces/${namespace}/replicasets`, replicasMoment);
    await revisions.#begin(`/api/v1/namespaces/${namespace}/pods`, podMoment);
    return revisions;
  }

  private constructor(cluster: Cluster) {
    this.#follower = new Follower(cluster);
  }

  /** Ends the watches, and fails when one broke in between: then moments were missed. */
  async rests(): Promise<readonly (readonly Split[])[]> {
    await this.#follower.stop();
    return restsOf(this.#moments);
  }

  async #begin(path: string, momentOf: (object: Observed, isGone: boolean) => RevisionMoment): Promise<void> {
    await this.#follower.follow<Observed>(path, (changes) =>
      this.#moments.push(...changes.map(({ object, isGone }) => momentOf(object, isGone))),
    );
  }
}
