import type { Ledger, ReplicaCount, ReplicaSetBirth, ReplicaSetInfo } from '@spotalis/ledger';
import { SharedCalls } from '../reserve/flight.ts';
import type { LiveReplicaSet, ReplicaSetRef } from './replicaset.ts';

/** A ReplicaSet that no Deployment owns may be adopted by one. */
const UNOWNED_MS = 5_000;
/** About 200 bytes each. One forgotten costs a call of the ledger. */
const REPLICA_SETS = 20_000;

export interface DeploymentName {
  readonly uid: string;
  readonly name: string;
}

export type Ownership =
  | {
      readonly kind: 'deployment';
      readonly deployment: DeploymentName;
      /** What was learned of the ReplicaSet on the way, when it was not known here yet. */
      readonly replicas?: ReplicaCount;
      /** When it was read live. */
      readonly birth?: ReplicaSetBirth;
    }
  /** It exists, and no Deployment owns it. */
  | { readonly kind: 'unowned' }
  /** There is no such ReplicaSet. */
  | { readonly kind: 'missing' };

export interface OwnersOptions {
  readonly ledger: Pick<Ledger, 'replicaSet' | 'rememberReplicaSet'>;
  readonly read: (ref: ReplicaSetRef) => Promise<LiveReplicaSet | undefined>;
  readonly now: () => number;
}

/**
 * Which Deployment a ReplicaSet belongs to. It never changes, so one GET serves all replicas of ours: the answer is
 * kept in the ledger, and each process asks there once.
 */
export class Owners {
  readonly #options: OwnersOptions;
  readonly #deployments = new Map<string, DeploymentName>();
  readonly #unowned = new Map<string, number>();
  readonly #calls = new SharedCalls<Ownership>();

  constructor(options: OwnersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#deployments.size;
  }

  async of(ref: ReplicaSetRef, dryRun: boolean): Promise<Ownership> {
    const deployment = this.#deployments.get(ref.uid);
    if (deployment !== undefined) {
      return { kind: 'deployment', deployment };
    }
    if ((this.#unowned.get(ref.uid) ?? 0) > this.#options.now()) {
      return { kind: 'unowned' };
    }
    return this.#calls.ask(ref.uid, () => this.#find(ref, dryRun));
  }

  async #find(ref: ReplicaSetRef, dryRun: boolean): Promise<Ownership> {
    const recorded = await this.#recorded(ref.uid);
    if (recorded !== undefined) {
      const { owner, replicas, resourceVersion } = recorded;
      this.#keep(ref.uid, owner);
      return { kind: 'deployment', deployment: owner, replicas: { replicas, resourceVersion } };
    }
    const live = await this.#options.read(ref);
    if (live === undefined) {
      return { kind: 'missing' };
    }
    const { deployment, replicas, birth } = live;
    if (deployment === undefined) {
      this.#keepUnowned(ref.uid);
      return { kind: 'unowned' };
    }
    this.#keep(ref.uid, deployment);
    if (!dryRun) {
      this.#record(ref.uid, { ...replicas, owner: deployment });
    }
    return { kind: 'deployment', deployment, replicas, birth };
  }

  async #recorded(uid: string): Promise<ReplicaSetInfo | undefined> {
    try {
      return await this.#options.ledger.replicaSet(uid);
    } catch {
      // The API server knows as well.
      return undefined;
    }
  }

  /** For the others; nobody waits for it. */
  #record(uid: string, info: ReplicaSetInfo): void {
    this.#options.ledger.rememberReplicaSet(uid, info).catch(() => undefined);
  }

  #keep(uid: string, deployment: DeploymentName): void {
    this.#deployments.set(uid, deployment);
    if (this.#deployments.size > REPLICA_SETS) {
      const [oldest = uid] = this.#deployments.keys();
      this.#deployments.delete(oldest);
    }
  }

  #keepUnowned(uid: string): void {
    const now = this.#options.now();
    for (const [old, untilMs] of this.#unowned) {
      if (untilMs > now) {
        break;
      }
      this.#unowned.delete(old);
    }
    this.#unowned.delete(uid);
    this.#unowned.set(uid, now + UNOWNED_MS);
  }
}
