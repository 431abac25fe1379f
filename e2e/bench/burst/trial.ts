import { targetOnDemand, targetSpot } from '@spotalis/core';
import { type Pod, splitOf } from '../../workloads/workload.ts';
import { cpuMs, rssMiB, total } from '../processes.ts';
import { declareLoad, type Load, podsOf, prepareNamespace } from '../workloads.ts';
import { readBurst } from './audit.ts';
import { difference, type Histogram, readCounter, readHistogram } from './histogram.ts';
import type { Lane } from './lane.ts';

/** One burst in one lane. */
export interface Trial {
  readonly pods: number;
  /** From the first Deployment's request to the last pod's answer, both as the API server logged them. */
  readonly seconds: number;
  /** The API server waiting for the webhook. */
  readonly admission: Histogram;
  /** Inside the webhook: from the arrival of the request to the answer written. */
  readonly inside: Histogram;
  /** Of that, each question to the ledger. */
  readonly ledger: Histogram;
  /** Decisions by reason: the ledger's, or why a replica had to decide alone. */
  readonly reasons: Readonly<Record<string, number>>;
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
const ledgerSeries = 'spotalis_ledger_duration_seconds';
const decisionsSeries = 'spotalis_admissions_total';

/** Ends when the last pod exists; does not wait until they run. */
export async function runTrial(lane: Lane, size: Load, namespace: string): Promise<Trial> {
  const { name, cluster, admissionPids, controllerPids } = lane;
  await prepareNamespace(cluster.api, namespace);
  const before = await observe(lane);
  const sinceMs = Date.now();
  // Behind a null webhook nothing is on target; the controllers are not to repair that meanwhile.
  await declareLoad(cluster.api, { ...size, paused: name === 'null-webhook' }, namespace);
  const after = await observe(lane);
  lane.checkAlive();
  const created = await cluster.api.list<Pod>('Pod', { namespace });
  const audit = readBurst(cluster.auditLog, namespace, sinceMs);
  return {
    pods: podsOf(size),
    seconds: (audit.lastPodMs - audit.firstRequestMs) / 1000,
    admission: difference(after.admission, before.admission),
    inside: difference(after.inside, before.inside),
    ledger: difference(after.ledger, before.ledger),
    reasons: countsBetween(before.reasons, after.reasons),
    createMs: audit.createMs,
    refused: audit.refused,
    offTarget: name === 'spotalis' ? offTarget(created, size) : undefined,
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

async function observe({ apiMetrics, admissionMetrics, admissionPids, controllerPids }: Lane) {
  const [api, own] = await Promise.all([apiMetrics.read(), admissionMetrics()]);
  return {
    admission: readHistogram(api, admissionSeries, { name: 'pods.spotalis.io' }),
    inside: readHistogram(own, insideSeries),
    ledger: readHistogram(own, ledgerSeries, { operation: 'decidePlace' }),
    reasons: readCounter(own, decisionsSeries, 'reason'),
    admissionCpuMs: total(admissionPids, cpuMs),
    controllerCpuMs: total(controllerPids, cpuMs),
  };
}

function largestRssMiB(pids: readonly number[]): number | undefined {
  return pids.length === 0 ? undefined : Math.max(...pids.map((pid) => rssMiB(pid) ?? Number.NaN));
}

function countsBetween(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [reason, count] of Object.entries(after)) {
    const more = count - (before[reason] ?? 0);
    if (more > 0) counts[reason] = more;
  }
  return counts;
}

function spent(before: number | undefined, after: number | undefined): number | undefined {
  return before === undefined || after === undefined ? undefined : after - before;
}

/** Pods on the wrong type, summed over the Deployments. */
function offTarget(pods: readonly Pod[], { policy }: Load): number {
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
