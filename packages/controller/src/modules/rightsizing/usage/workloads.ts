import type { PodOwner } from './provider.ts';

export type WorkloadKind = 'Deployment' | 'StatefulSet' | 'DaemonSet';

export interface WorkloadName {
  readonly kind: WorkloadKind;
  readonly name: string;
}

/** What the controller knows of a pod now: its workload, null for a pod of nobody's, undefined for an unknown pod. */
export type LiveWorkload = (pod: string) => WorkloadName | null | undefined;

/** What Kubernetes makes hashes and suffixes of: no vowels, and none of 0, 1 and 3. */
const SAFE = '[bcdfghjklmnpqrstvwxz2456789]';
const podSuffix = new RegExp(`^(.+)-${SAFE}{5}$`);
const templateHash = new RegExp(`^(.+)-${SAFE}{1,10}$`);
const ordinal = /^(.+)-\d+$/;

/**
 * Which workload of one namespace a pod is of, or was: by the owners that the controller knows, else by those that the
 * source knows, else by the name. Two that fit equally well are as good as none.
 */
export class PodWorkloads {
  readonly #workloads = new Map<string, WorkloadName>();
  readonly #owners = new Map<string, PodOwner | null>();
  readonly #live: LiveWorkload;

  constructor(workloads: readonly WorkloadName[], owners: readonly PodOwner[], live: LiveWorkload) {
    for (const one of workloads) this.#workloads.set(`${one.kind}/${one.name}`, one);
    for (const owner of owners) {
      const other = this.#owners.get(owner.pod);
      const isSame = other === undefined || (other?.kind === owner.kind && other.name === owner.name);
      this.#owners.set(owner.pod, isSame ? owner : null);
    }
    this.#live = live;
  }

  of(pod: string): WorkloadName | null {
    const live = this.#live(pod);
    if (live !== undefined) return live;
    const owner = this.#owners.get(pod);
    if (owner !== undefined) return owner === null ? null : this.#byOwner(owner);
    return this.#byName(pod);
  }

  #byOwner({ kind, name }: PodOwner): WorkloadName | null {
    switch (kind) {
      case 'ReplicaSet':
        return this.#find('Deployment', templateHash.exec(name)?.[1]);
      case 'StatefulSet':
      case 'DaemonSet':
        return this.#find(kind, name);
      default:
        return null;
    }
  }

  /** The name of a pod of a Deployment is cut where it would exceed 63 characters: such a pod is not recognised. */
  #byName(pod: string): WorkloadName | null {
    const withoutSuffix = podSuffix.exec(pod)?.[1];
    const candidates = [
      this.#find('Deployment', templateHash.exec(withoutSuffix ?? '')?.[1]),
      this.#find('DaemonSet', withoutSuffix),
      this.#find('StatefulSet', ordinal.exec(pod)?.[1]),
    ].filter((one) => one !== null);
    return candidates.length === 1 ? (candidates[0] ?? null) : null;
  }

  #find(kind: WorkloadKind, name: string | undefined): WorkloadName | null {
    return this.#workloads.get(`${kind}/${name}`) ?? null;
  }
}
