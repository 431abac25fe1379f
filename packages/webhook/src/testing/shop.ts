import type { RawMeta } from '@spotalis/kube';
import type { FakeApi, FakeObject } from './fake-api.ts';

type Stored = FakeObject & { readonly metadata: RawMeta };

/** A namespace that opted in, with one Deployment and its ReplicaSet. */
export interface Shop {
  readonly deployment: Stored;
  readonly replicaSet: Stored;
}

export interface ShopOptions {
  readonly name?: string;
  readonly replicas?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** A ReplicaSet of this age has pods, so its ledger has to begin with a LIST. */
  readonly ageMs?: number;
}

const optedIn = { 'spotalis.io/enabled': 'true' };

export function openShop(api: FakeApi, options: ShopOptions = {}): Shop {
  const { name = 'web', replicas = 10, labels = optedIn, ageMs = 600_000 } = options;
  const { annotations = { 'spotalis.io/spot-percentage': '70', 'spotalis.io/min-on-demand': '1' } } = options;
  api.put({ kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'shop', labels: optedIn } });
  const deployment = api.put({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name, namespace: 'shop', labels, annotations },
    spec: { replicas },
  });
  const replicaSet = api.put({
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: {
      name: `${name}-5d89`,
      namespace: 'shop',
      creationTimestamp: new Date(Date.now() - ageMs).toISOString(),
      ownerReferences: [owner('Deployment', deployment)],
    },
    spec: { replicas },
    status: { observedGeneration: 1, replicas: 0 },
  });
  return { deployment, replicaSet };
}

export function owner(kind: string, { metadata }: Stored) {
  return { apiVersion: 'apps/v1', kind, name: metadata.name, uid: metadata.uid, controller: true };
}

/** The pod as its ReplicaSet asks for it: without name and UID. */
export function podOf({ replicaSet }: Shop, change: { metadata?: object; spec?: object } = {}) {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      generateName: `${replicaSet.metadata.name}-`,
      namespace: 'shop',
      labels: { app: 'web', 'pod-template-hash': '5d89' },
      ownerReferences: [owner('ReplicaSet', replicaSet)],
      ...change.metadata,
    },
    spec: { containers: [{ name: 'app', image: 'app' }], ...change.spec },
  };
}

export function reviewOf(uid: string, object: unknown, change: Readonly<Record<string, unknown>> = {}) {
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      namespace: 'shop',
      operation: 'CREATE',
      object,
      ...change,
    },
  };
}
