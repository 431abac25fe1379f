import type { Revision } from '../ledger.ts';
import { layoutVersion } from './script.ts';

/**
 * The names of all keys. A workload's share its UID as hash tag, and so a Cluster's slot: a script may use them
 * together. What concerns no workload alone has a tag of its own.
 */
export class Keys {
  readonly #root: string;

  constructor(prefix: string) {
    this.#root = `${prefix}${layoutVersion}:`;
  }

  /** In the order that places.lua has them. */
  places({ workloadUid, replicaSetUid }: Revision): readonly string[] {
    const base = `${this.#root}{${workloadUid}}:${replicaSetUid}:`;
    return [
      `${base}meta`,
      `${base}entries`,
      `${base}spot`,
      `${base}ondemand`,
      `${base}spotused`,
      `${base}odused`,
      `${base}pending`,
      `${base}gone`,
    ];
  }

  meta(revision: Revision): string {
    return this.#of(revision, 'meta');
  }

  entries(revision: Revision): string {
    return this.#of(revision, 'entries');
  }

  counted(revision: Revision): readonly string[] {
    return [this.#of(revision, 'spot'), this.#of(revision, 'ondemand'), this.#of(revision, 'pending')];
  }

  breaker(workloadUid: string): string {
    return `${this.#root}{${workloadUid}}:breaker`;
  }

  reach(workloadUid: string): string {
    return `${this.#root}{${workloadUid}}:reach`;
  }

  /** Stands for the epoch where that lies in another slot. Never written. */
  noEpoch(workloadUid: string): string {
    return `${this.#root}{${workloadUid}}:epoch`;
  }

  replicaSet(replicaSetUid: string): string {
    return `${this.#root}replicaset:{${replicaSetUid}}`;
  }

  epoch(): string {
    return `${this.#root}{store}:epoch`;
  }

  pools(): string {
    return `${this.#root}{store}:pools`;
  }

  #of({ workloadUid, replicaSetUid }: Revision, part: string): string {
    return `${this.#root}{${workloadUid}}:${replicaSetUid}:${part}`;
  }
}
