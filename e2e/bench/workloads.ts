import { type ApiClient, type KubeObject, waitFor } from '@spotalis/cluster';
import type { PolicyNumbers } from '@spotalis/core';
import { type Declaration, manifest, optedInNamespace } from '../workloads/workload.ts';

/** Workloads alike, all at once. */
export interface Load {
  readonly name: string;
  readonly deployments: number;
  /** Of each Deployment. */
  readonly replicas: number;
  readonly policy: PolicyNumbers;
  /** No moves, whatever type the pods are on. */
  readonly paused?: boolean;
}

const creationTimeoutMs = 300_000;
/** Applies that are under way at the same time: as many as someone's pipeline would send. */
const appliesAtOnce = 50;

export function podsOf({ deployments, replicas }: Load): number {
  return deployments * replicas;
}

/** Resolves when pods can be created in it. */
export async function prepareNamespace(api: ApiClient, namespace: string): Promise<void> {
  await api.apply(optedInNamespace(namespace));
  await waitFor('the default ServiceAccount', () => api.find('ServiceAccount', `${namespace}/default`));
}

/** Declares the workloads and resolves when the last of their pods exists; does not wait until they run. */
export async function declareLoad(api: ApiClient, load: Load, namespace: string): Promise<void> {
  const manifests = declarations(load, namespace).map((declaration) =>
    load.paused === true ? paused(manifest(declaration)) : manifest(declaration),
  );
  for (let from = 0; from < manifests.length; from += appliesAtOnce) {
    await Promise.all(manifests.slice(from, from + appliesAtOnce).map((each) => api.apply(each)));
  }
  const pods = podsOf(load);
  await waitFor(
    `${pods} pods in ${namespace}`,
    async () => (await countPods(api, namespace)) >= pods,
    // Counting costs the API server something: less often where there is more to wait for.
    { timeoutMs: creationTimeoutMs, intervalMs: pods > 2_000 ? 500 : 100 },
  );
}

interface DeploymentObject extends KubeObject {
  readonly spec: { readonly replicas: number };
  readonly status: { readonly readyReplicas?: number };
}

/** Resolves when every pod of the namespace is Ready. */
export async function settle(api: ApiClient, namespace: string): Promise<void> {
  await waitFor(
    `the pods of ${namespace} to be Ready`,
    async () => {
      const deployments = await api.list<DeploymentObject>('Deployment', { namespace });
      return deployments.every(({ spec, status }) => status.readyReplicas === spec.replicas);
    },
    { timeoutMs: creationTimeoutMs, intervalMs: 250 },
  );
}

function declarations({ deployments, replicas, policy }: Load, namespace: string): Declaration[] {
  return Array.from({ length: deployments }, (_, index) => ({
    name: `load-${index}`,
    namespace,
    replicas,
    policy,
  }));
}

function paused({ metadata, ...rest }: KubeObject): KubeObject {
  const annotations = { ...metadata?.annotations, 'spotalis.io/paused': 'true' };
  return { ...rest, metadata: { ...metadata, annotations } };
}

interface Page {
  readonly metadata: { readonly remainingItemCount?: number };
  readonly items: readonly unknown[] | null;
}

/** One item and the number of those left out: the API server need not write out 5,000 pods to be counted. */
async function countPods(api: ApiClient, namespace: string): Promise<number> {
  const page = await api.raw<Page>('GET', `/api/v1/namespaces/${namespace}/pods`, {
    query: { limit: '1' },
    accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  });
  return (page.items?.length ?? 0) + (page.metadata.remainingItemCount ?? 0);
}
