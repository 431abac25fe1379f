import {
  enabledLabel,
  type GateVerdict,
  managed,
  type PolicyDefaults,
  type PolicyReading,
  readPolicy,
  type Scope,
  type UnmanagedReason,
} from '@spotalis/core';
import type { ReplicaCount, ReplicaSetBirth, Revision } from '@spotalis/ledger';
import type { Lookup } from './lookup.ts';
import type { Owners, Ownership } from './owners.ts';
import type { OptInRecord } from './record.ts';
import type { ReplicaSetRef } from '../cluster/replicaset.ts';

export interface Workload {
  readonly kind: 'Deployment' | 'StatefulSet';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface ManagedWorkload {
  readonly kind: 'managed';
  readonly workload: Workload;
  readonly policy: PolicyReading;
  /** `spec.ordinals.start` of a StatefulSet. */
  readonly firstOrdinal: number;
  /** Known when the lookup of the Deployment has read the ReplicaSet. */
  readonly replicas?: ReplicaCount;
  readonly birth?: ReplicaSetBirth;
}

export type Resolution =
  | ManagedWorkload
  | { readonly kind: 'unmanaged'; readonly reason: UnmanagedReason | 'Unowned' }
  /** The namespace or an owner was deleted while its pod was being created. */
  | { readonly kind: 'missing'; readonly what: string };

export interface WorkloadsOptions {
  readonly namespaces: Pick<Lookup, 'find' | 'mirrors'>;
  readonly deployments: Pick<Lookup, 'find'>;
  readonly statefulSets: Pick<Lookup, 'find'>;
  readonly owners: Pick<Owners, 'of' | 'again'>;
  readonly scope: Scope;
  /** Called at each admission, since defaults can change. Returns the same object until they do. */
  readonly defaults: () => PolicyDefaults;
}

interface PolicyOf {
  readonly home: OptInRecord;
  readonly defaults: PolicyDefaults;
  readonly policy: PolicyReading;
}

type OurPod = Extract<GateVerdict, { ours: true }>;

/** Resolves a pod's owner reference to the workload and its policy. */
export class Workloads {
  readonly #options: WorkloadsOptions;
  readonly #policies = new WeakMap<OptInRecord, PolicyOf>();

  constructor(options: WorkloadsOptions) {
    this.#options = options;
  }

  async resolve({ namespace, owner, dryRun }: OurPod): Promise<Resolution> {
    const { namespaces, statefulSets, owners } = this.#options;
    const home = await namespaces.find(namespace);
    if (home === undefined) {
      return { kind: 'missing', what: `Namespace ${namespace}` };
    }
    // Cheaper than finding the owner, and decisive whatever the owner's labels say.
    const excluded = this.#unmanaged(home, { [enabledLabel]: 'true' });
    if (excluded !== undefined) {
      return excluded;
    }
    if (owner.kind === 'StatefulSet') {
      const record = await statefulSets.find(`${namespace}/${owner.name}`, owner.uid);
      return this.#judge(home, record, { kind: 'StatefulSet', namespace, name: owner.name, uid: owner.uid });
    }
    const replicaSet = { namespace, name: owner.name, uid: owner.uid };
    const ownership = await owners.of(replicaSet, dryRun);
    const found = await this.#ofReplicaSet(home, owner.name, ownership);
    // What was read just now is not read again.
    if (found.kind !== 'missing' || ownership.kind !== 'deployment' || ownership.birth !== undefined) {
      return found;
    }
    const adopted = await owners.again(replicaSet, ownership.deployment, dryRun);
    const { uid } = ownership.deployment;
    return adopted.kind === 'deployment' && adopted.deployment.uid === uid
      ? found
      : this.#ofReplicaSet(home, owner.name, adopted);
  }

  /** The ledger of a managed Deployment's ReplicaSet. Reads nothing for namespaces that did not opt in. */
  async revisionOf(replicaSet: ReplicaSetRef): Promise<Revision | undefined> {
    const { namespace, name, uid } = replicaSet;
    if (!this.#options.namespaces.mirrors(namespace)) return undefined;
    const found = await this.resolve({
      ours: true,
      namespace,
      owner: { kind: 'ReplicaSet', name, uid },
      dryRun: false,
    });
    return found.kind === 'managed' ? { workloadUid: found.workload.uid, replicaSetUid: uid } : undefined;
  }

  async #ofReplicaSet(home: OptInRecord, replicaSet: string, ownership: Ownership): Promise<Resolution> {
    const namespace = home.metadata.name;
    if (ownership.kind === 'missing') {
      return { kind: 'missing', what: `ReplicaSet ${namespace}/${replicaSet}` };
    }
    if (ownership.kind === 'unowned') {
      return { kind: 'unmanaged', reason: 'Unowned' };
    }
    const { deployment, replicas, birth } = ownership;
    const record = await this.#options.deployments.find(`${namespace}/${deployment.name}`, deployment.uid);
    const found = this.#judge(home, record, { kind: 'Deployment', namespace, ...deployment });
    return found.kind === 'managed'
      ? {
          ...found,
          ...(replicas === undefined ? {} : { replicas }),
          ...(birth === undefined ? {} : { birth }),
        }
      : found;
  }

  #judge(home: OptInRecord, record: OptInRecord | undefined, workload: Workload): Resolution {
    if (record === undefined) {
      return { kind: 'missing', what: `${workload.kind} ${workload.namespace}/${workload.name}` };
    }
    const unmanaged = this.#unmanaged(home, record.labels);
    if (unmanaged !== undefined) {
      return unmanaged;
    }
    const policy = this.#policyOf(record, home);
    return { kind: 'managed', workload, policy, firstOrdinal: record.firstOrdinal };
  }

  /** Records are replaced, never changed: one reading of a record holds for all its pods. */
  #policyOf(record: OptInRecord, home: OptInRecord): PolicyReading {
    const defaults = this.#options.defaults();
    const known = this.#policies.get(record);
    if (known?.home === home && known.defaults === defaults) return known.policy;
    const policy = readPolicy({ workload: record.annotations, namespace: home.annotations, defaults });
    this.#policies.set(record, { home, defaults, policy });
    return policy;
  }

  #unmanaged(home: OptInRecord, workloadLabels: OptInRecord['labels']): Resolution | undefined {
    const verdict = managed(
      { namespace: home.metadata.name, namespaceLabels: home.labels, workloadLabels },
      this.#options.scope,
    );
    return verdict.managed ? undefined : { kind: 'unmanaged', reason: verdict.reason };
  }
}
