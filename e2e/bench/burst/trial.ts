import { type ApiClient, type KubeObject, waitFor } from '@spotalis/cluster';
import { type PolicyNumbers, targetOnDemand, targetSpot } from '@spotalis/core';
import { type Declaration, manifest, optedInNamespace, type Pod, splitOf } from '../../scenarios/workload.ts';
import { readBurst } from './audit.ts';
import { difference, type Histogram, readHistogram } from './histogram.ts';
import type { Lane } from './lane.ts';
import { cpuMs, rssMiB, total } from './processes.ts';

export interface BurstSize {
  readonly name: string;
  readonly deployments: number;
  /** Of each Deployment. */
  readonly replicas: number;
  readonly policy: PolicyNumbers;
}

/** One burst in one lane. */
export interface Trial {
  readonly pods: number;
  /** From the first Deployment's request to the last pod's answer, both as the API server logged them. */
  readonly seconds: number;
  /** The API server waiting for the webhook. */
  readonly admission: Histogram;
  /** Inside the webhook: from the request read to the answer written. */
  readonly inside: Histogram;
  readonly createMs: readonly number[];
  readonly refused: number;
  readonly offTarget: number | undefined;
  readonly unsteered: number;
  readonly evictions: number;
  readonly lists: number;
  readonly gets: number;
  readonly admissionCpuMs: number | undefined;
  readonly controllerCpuMs: number | undefined;
  /** The largest replica. */
  readonly admissionRssMiB: number | undefined;
  readonly controllerRssMiB: number | undefined;
}

const admissionSeries = 'apiserver_admission_webhook_admission_duration_seconds';
const insideSeries = 'spotalis_admission_duration_seconds';
const burstTimeoutMs = 300_000;
/** Applies that are under way at the same time: as many as someone's pipeline would send. */
const appliesAtOnce = 50;

/** Declares the workloads and resolves when the last of their pods exists; does not wait until they run. */
export async function runTrial(lane: Lane, size: BurstSize, namespace: string): Promise<Trial> {
  const { cluster, admissionPids, controllerPids } = lane;
  const { api } = cluster;
  const pods = size.deployments * size.replicas;
  await api.apply(optedInNamespace(namespace));
  await waitFor('the default ServiceAccount', () => api.find('ServiceAccount', `${namespace}/default`));

  const manifests = declarations(size, namespace).map((declaration) =>
    lane.name === 'null-webhook' ? paused(manifest(declaration)) : manifest(declaration),
  );
  const before = await observe(lane);
  const sinceMs = Date.now();
  for (let from = 0; from < manifests.length; from += appliesAtOnce) {
    await Promise.all(manifests.slice(from, from + appliesAtOnce).map((each) => api.apply(each)));
  }
  await waitFor(
    `${pods} pods in ${namespace} (${lane.name})`,
    async () => (await countPods(api, namespace)) >= pods,
    { timeoutMs: burstTimeoutMs, intervalMs: 100 },
  );
  const after = await observe(lane);
  const created = await api.list<Pod>('Pod', { namespace });
  const audit = readBurst(cluster.auditLog, namespace, sinceMs);
  return {
    pods,
    seconds: (audit.lastPodMs - audit.firstRequestMs) / 1000,
    admission: difference(
      readHistogram(after.api, admissionSeries, { name: 'pods.spotalis.io' }),
      readHistogram(before.api, admissionSeries, { name: 'pods.spotalis.io' }),
    ),
    inside: difference(readHistogram(after.own, insideSeries), readHistogram(before.own, insideSeries)),
    createMs: audit.createMs,
    refused: audit.refused,
    offTarget: lane.name === 'spotalis' ? offTarget(created, size) : undefined,
    unsteered: splitOf(created).unsteered,
    evictions: audit.evictions,
    lists: audit.webhookReads.list,
    gets: audit.webhookReads.get,
    admissionCpuMs: spent(before.admissionCpuMs, after.admissionCpuMs),
    controllerCpuMs: spent(before.controllerCpuMs, after.controllerCpuMs),
    admissionRssMiB: largestRssMiB(admissionPids),
    controllerRssMiB: largestRssMiB(controllerPids),
  };
}

/** Waits until the pods of the last burst run, so that the next one does not pay for them. */
export async function settle({ cluster }: Lane, namespace: string): Promise<void> {
  interface Deployment extends KubeObject {
    readonly spec: { readonly replicas: number };
    readonly status: { readonly readyReplicas?: number };
  }
  await waitFor(
    `the pods of ${namespace} to be Ready`,
    async () => {
      const deployments = await cluster.api.list<Deployment>('Deployment', { namespace });
      return deployments.every(({ spec, status }) => status.readyReplicas === spec.replicas);
    },
    { timeoutMs: burstTimeoutMs, intervalMs: 250 },
  );
}

function declarations({ deployments, replicas, policy }: BurstSize, namespace: string): Declaration[] {
  return Array.from({ length: deployments }, (_, index) => ({
    name: `burst-${index}`,
    namespace,
    replicas,
    policy,
  }));
}

/** Behind a null webhook nothing is on target; the controllers are not to repair that meanwhile. */
function paused({ metadata, ...rest }: KubeObject): KubeObject {
  const annotations = { ...metadata?.annotations, 'spotalis.io/paused': 'true' };
  return { ...rest, metadata: { ...metadata, annotations } };
}

async function observe({ apiMetrics, admissionMetrics, admissionPids, controllerPids }: Lane) {
  const [api, own] = await Promise.all([apiMetrics.read(), admissionMetrics()]);
  return {
    api,
    own,
    admissionCpuMs: total(admissionPids, cpuMs),
    controllerCpuMs: total(controllerPids, cpuMs),
  };
}

function largestRssMiB(pids: readonly number[]): number | undefined {
  return pids.length === 0 ? undefined : Math.max(...pids.map((pid) => rssMiB(pid) ?? Number.NaN));
}

function spent(before: number | undefined, after: number | undefined): number | undefined {
  return before === undefined || after === undefined ? undefined : after - before;
}

/** One item and the number of those left out: the API server need not write out 5,000 pods to be counted. */
async function countPods(api: ApiClient, namespace: string): Promise<number> {
  interface Page {
    readonly metadata: { readonly remainingItemCount?: number };
    readonly items: readonly unknown[] | null;
  }
  const page = await api.raw<Page>('GET', `/api/v1/namespaces/${namespace}/pods`, {
    query: { limit: '1' },
    accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  });
  return (page.items?.length ?? 0) + (page.metadata.remainingItemCount ?? 0);
}

/** Pods on the wrong type, summed over the Deployments. */
function offTarget(pods: readonly Pod[], { policy }: BurstSize): number {
  const byWorkload = new Map<string, Pod[]>();
  for (const pod of pods) {
    const workload = pod.metadata?.labels?.['app'] ?? '';
    const group = byWorkload.get(workload);
    if (group === undefined) byWorkload.set(workload, [pod]);
    else group.push(pod);
  }
  let off = 0;
  for (const group of byWorkload.values()) {
    const { spot, onDemand } = splitOf(group);
    off += Math.max(
      Math.abs(spot - targetSpot(policy, group.length)),
      Math.abs(onDemand - targetOnDemand(policy, group.length)),
    );
  }
  return off;
}
