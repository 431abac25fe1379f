import { type Cluster, installationNamespace, type KubeObject, waitFor } from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import { Follower } from '../workloads/follower.ts';
import { askerGone } from '../testbed/move-log.ts';
import { isReady, type Pod, typeOf } from '../workloads/workload.ts';

interface DeclaredWorkload extends KubeObject {
  readonly spec: { readonly replicas?: number };
}

type Observed = DeclaredWorkload & Pod;

/** What became true at one version of the cluster, of which there is one for all kinds of objects. */
export type Moment = { readonly version: number; readonly workload: string } & (
  | { readonly floor: number }
  | { readonly pod: string; readonly state: 'serves on on-demand' | 'does not' | 'ends' }
);

const pathOf = ({ metadata: { namespace, name } = {} }: KubeObject): string => `${namespace}/${name}`;
const versionOf = ({ metadata }: KubeObject): number => Number(metadata?.resourceVersion);

function floorMoment(workload: DeclaredWorkload): Moment {
  const floor = Number(workload.metadata?.annotations?.[policyKeys.minOnDemand] ?? 0);
  return {
    version: versionOf(workload),
    workload: pathOf(workload),
    floor: Math.min(floor, workload.spec.replicas ?? 1),
  };
}

function podMoment(pod: Pod, isGone: boolean): Moment {
  const { namespace, labels, deletionTimestamp } = pod.metadata ?? {};
  const serves = typeOf(pod) === 'on-demand' && isReady(pod) ? 'serves on on-demand' : 'does not';
  return {
    version: versionOf(pod),
    workload: `${namespace}/${labels?.['app']}`,
    pod: pathOf(pod),
    state: isGone || deletionTimestamp !== undefined ? 'ends' : serves,
  };
}

/** Where an eviction left a workload fewer Ready pods on on-demand than its floor was at that moment. */
export function breachesOf(moments: readonly Moment[], evicted: ReadonlySet<string>): readonly string[] {
  const floors = new Map<string, number>();
  const serving = new Map<string, Set<string>>();
  const breaches: string[] = [];
  for (const moment of moments.toSorted((a, b) => a.version - b.version)) {
    const { workload } = moment;
    if ('floor' in moment) {
      floors.set(workload, moment.floor);
      continue;
    }
    const { pod, state } = moment;
    const pods = serving.get(workload) ?? new Set();
    serving.set(workload, pods);
    if (state === 'serves on on-demand') {
      pods.add(pod);
      continue;
    }
    const served = pods.delete(pod);
    const floor = floors.get(workload) ?? 0;
    if (state === 'ends' && served && evicted.has(pod) && pods.size < floor)
      breaches.push(`${pod}: leaves ${pods.size} of ${floor}`);
  }
  return breaches;
}

/** Every moment of the pods of all workloads and of their floors, from watches: nothing between two looks is missed. */
export class Floors {
  readonly #cluster: Cluster;
  readonly #moments: Moment[] = [];
  readonly #follower: Follower;

  private constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#follower = new Follower(cluster);
  }

  static async follow(cluster: Cluster): Promise<Floors> {
    const floors = new Floors(cluster);
    await floors.#begin('/apis/apps/v1/deployments', floorMoment);
    await floors.#begin('/apis/apps/v1/statefulsets', floorMoment);
    await floors.#begin('/api/v1/pods', podMoment);
    return floors;
  }

  /** Of our own evictions so far. Ends the watches, and fails when one broke in between: then moments were missed. */
  async breaches(): Promise<readonly string[]> {
    const ours = `system:serviceaccount:${installationNamespace}:`;
    const pathsOf = (isAsked: (code: number) => boolean) =>
      new Set(
        this.#cluster.auditLog
          .read(
            ({ user, objectRef, responseStatus }) =>
              objectRef?.subresource === 'eviction' &&
              user.username.startsWith(ours) &&
              isAsked(responseStatus?.code ?? 500),
          )
          .map(({ objectRef: { namespace, name } = {} }) => `${namespace}/${name}`),
      );
    const granted = pathsOf((code) => code < 300);
    const unheard = pathsOf((code) => code === askerGone);
    const untold = () => {
      const ended = new Set(
        this.#moments.map((moment) => 'pod' in moment && moment.state === 'ends' && moment.pod),
      );
      return [...granted].filter((pod) => !ended.has(pod));
    };
    const allTold = waitFor('the watch to tell of every pod that was evicted', untold, {
      until: (pods) => pods.length === 0,
    });
    await Promise.race([allTold, this.#follower.ended()]);
    await this.#follower.stop();
    return breachesOf(this.#moments, new Set([...granted, ...unheard]));
  }

  async #begin(path: string, momentOf: (object: Observed, isGone: boolean) => Moment): Promise<void> {
    await this.#follower.follow<Observed>(path, (changes) =>
      this.#moments.push(...changes.map(({ object, isGone }) => momentOf(object, isGone))),
    );
  }
}
