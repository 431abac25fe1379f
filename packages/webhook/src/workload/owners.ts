import type { Ledger, ReplicaCount, ReplicaSetBirth, ReplicaSetInfo } from '@spotalis/ledger';
import { SharedCalls } from '../cluster/calls.ts';
import type { LiveReplicaSet, ReplicaSetRef } from '../cluster/replicaset.ts';

/** A ReplicaSet without a Deployment is read again after this long: one may adopt it. */
const ORPHANED_MS = 5_000;
/** About 200 bytes each. A forgotten one costs a call of the ledger. */
const REPLICA_SETS = 20_000;

export interface DeploymentName {
  readonly uid: string;
  readonly name: string;
}

export type Ownership =
  | {
      readonly kind: 'deployment';
      readonly deployment: DeploymentName;
      /** Known when the ReplicaSet was looked up just now. */
      readonly replicas?: ReplicaCount;
      /** Known when it was read live, or is new. */
      readonly birth?: ReplicaSetBirth;
    }
  /** It exists, and no Deployment owns it. */
  | { readonly kind: 'unowned' }
  /** There is no such ReplicaSet. */
  | { readonly kind: 'missing' };

export interface OwnersOptions {
  readonly ledger: Pick<Ledger, 'replicaSet' | 'rememberReplicaSet'>;
  /** The reading of a ReplicaSet that was created just now. */
  readonly newborn: (ref: ReplicaSetRef) => LiveReplicaSet | undefined;
  readonly read: (ref: ReplicaSetRef) => Promise<LiveReplicaSet | undefined>;
  readonly now: () => number;
}

interface Orphan {
  readonly ownership: Ownership;
  readonly untilMs: number;
}

/**
 * Finds the Deployment of a ReplicaSet. It changes only when the Deployment is deleted without its ReplicaSets and
 * another one adopts them. So one event of the watch, or one GET, serves all webhooks: the answer is kept in the
 * ledger, and each process asks there once. A caller that does not find that Deployment any more asks `again`.
 */
export class Owners {
  readonly #options: OwnersOptions;
  readonly #deployments = new Map<string, DeploymentName>();
  /** In order of time, since all are kept equally long. */
  readonly #orphans = new Map<string, Orphan>();
  readonly #calls = new SharedCalls<Ownership>();
  readonly #rereads = new SharedCalls<Ownership>();

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
    const orphan = this.#orphan(ref.uid);
    if (orphan?.kind === 'unowned') {
      return orphan;
    }
    return this.#calls.ask(ref.uid, () => this.#find(ref, dryRun));
  }

  /** For a ReplicaSet whose Deployment, as `of` returned it, does not exist: reads live, whatever the ledger says. */
  async again(ref: ReplicaSetRef, gone: DeploymentName, dryRun: boolean): Promise<Ownership> {
    const known = this.#deployments.get(ref.uid);
    if (known !== undefined && known.uid !== gone.uid) {
      return { kind: 'deployment', deployment: known };
    }
    const orphan = this.#orphan(ref.uid);
    if (orphan !== undefined) {
      return orphan;
    }
    return this.#rereads.ask(ref.uid, async () => {
      const live = await this.#options.read(ref);
      this.#deployments.delete(ref.uid);
      const ownership = this.#read(ref, live, dryRun);
      // A deleted Deployment takes its ReplicaSets and pods with it; until then they ask again and again.
      if (ownership.kind === 'missing') {
        this.#keepOrphan(ref.uid, ownership);
      } else if (ownership.kind === 'deployment' && ownership.deployment.uid === gone.uid) {
        this.#keepOrphan(ref.uid, { kind: 'deployment', deployment: gone });
      }
      return ownership;
    });
  }

  async #find(ref: ReplicaSetRef, dryRun: boolean): Promise<Ownership> {
    const newborn = this.#options.newborn(ref);
    const recorded = newborn === undefined ? await this.#recorded(ref.uid) : undefined;
    if (recorded !== undefined) {
      const { owner, replicas, resourceVersion } = recorded;
      this.#keep(ref.uid, owner);
      return { kind: 'deployment', deployment: owner, replicas: { replicas, resourceVersion } };
    }
    return this.#read(ref, newborn ?? (await this.#options.read(ref)), dryRun);
  }

  #read({ uid }: ReplicaSetRef, live: LiveReplicaSet | undefined, dryRun: boolean): Ownership {
    if (live === undefined) {
      return { kind: 'missing' };
    }
    const { deployment, replicas, birth } = live;
    if (deployment === undefined) {
      const unowned: Ownership = { kind: 'unowned' };
      this.#keepOrphan(uid, unowned);
      return unowned;
    }
    this.#keep(uid, deployment);
    if (!dryRun) {
      this.#record(uid, { ...replicas, owner: deployment });
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

  /** For the other webhooks. The admission does not wait for it. */
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

  #orphan(uid: string): Ownership | undefined {
    const orphan = this.#orphans.get(uid);
    return orphan !== undefined && orphan.untilMs > this.#options.now() ? orphan.ownership : undefined;
  }

  #keepOrphan(uid: string, ownership: Ownership): void {
    const now = this.#options.now();
    for (const [old, { untilMs }] of this.#orphans) {
      if (untilMs > now) {
        break;
      }
      this.#orphans.delete(old);
    }
    this.#orphans.delete(uid);
    this.#orphans.set(uid, { ownership, untilMs: now + ORPHANED_MS });
  }
}
