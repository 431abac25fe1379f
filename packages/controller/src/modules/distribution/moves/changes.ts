import type { ObservedPod, PolicyNumbers } from '@spotalis/core';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';

interface Seen {
  spotPercentage: number;
  minOnDemand: number;
  replicas: number;
  policyChangedAtMs: number | null;
  replicasChangedAtMs: number | null;
}

/** When something of a workload last changed, as this process saw it: moves wait until a change has settled. */
export class Changes {
  readonly #cluster: Cluster;
  readonly #now: () => number;
  readonly #seen = new Map<string, Seen>();
  readonly #podGoneAtMs = new Map<string, number>();

  constructor(cluster: Cluster, now: () => number) {
    this.#cluster = cluster;
    this.#now = now;
  }

  /** Watches pods go. Returns the way out. */
  follow(): () => void {
    return this.#cluster.pods.subscribe((change) => {
      const before = change.type === 'updated' ? change.previous.ended : false;
      if (change.type === 'deleted' || (change.object.ended && !before)) this.#podGone(change.object);
    });
  }

  /** To be called before each decision on a workload, with what it asks for now. */
  note(workloadUid: string, numbers: PolicyNumbers | undefined, replicas: number): void {
    const { spotPercentage = -1, minOnDemand = -1 } = numbers ?? {};
    const nowMs = this.#now();
    let seen = this.#seen.get(workloadUid);
    if (seen === undefined) {
      seen = { spotPercentage, minOnDemand, replicas, policyChangedAtMs: null, replicasChangedAtMs: null };
      this.#seen.set(workloadUid, seen);
    }
    if (seen.spotPercentage !== spotPercentage || seen.minOnDemand !== minOnDemand) {
      Object.assign(seen, { spotPercentage, minOnDemand, policyChangedAtMs: nowMs });
    }
    if (seen.replicas !== replicas) Object.assign(seen, { replicas, replicasChangedAtMs: nowMs });
  }

  of(workloadUid: string) {
    const seen = this.#seen.get(workloadUid);
    return {
      policyChangedAtMs: seen?.policyChangedAtMs ?? null,
      replicasChangedAtMs: seen?.replicasChangedAtMs ?? null,
      podGoneAtMs: this.#podGoneAtMs.get(workloadUid) ?? null,
    };
  }

  forget(workloadUid: string): void {
    this.#seen.delete(workloadUid);
    this.#podGoneAtMs.delete(workloadUid);
  }

  #podGone(pod: ObservedPod): void {
    const home = this.#cluster.homeOf(pod);
    if (home === undefined || !this.#cluster.isManaged(home.workload)) return;
    this.#podGoneAtMs.set(home.workload.metadata.uid, this.#now());
  }
}
