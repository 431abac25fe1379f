import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Cluster, type KubeObject, waitFor } from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import { rssMiB } from '../processes.ts';
import { quantile } from '../statistics.ts';
import { askMs, type Controller, looksOf, metricsOf, startController } from './process.ts';

/** From a change of a policy, sent, to the leader's line with the new targets. */
export interface Latency {
  readonly changes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A steady rate: what one decision takes, not how long a queue is. */
const betweenChangesMs = 20;

/** Each workload gets another share, once; the leader tells of each. `percentage`: not the one they have. */
export async function decisionLatency(
  cluster: Cluster,
  { component }: Controller,
  { workloads, percentage }: { readonly workloads: readonly string[]; readonly percentage: number },
): Promise<Latency> {
  const sentAtMs = new Map<string, number>();
  const patches: Promise<unknown>[] = [];
  for (const workload of workloads) {
    sentAtMs.set(`Deployment/${workload}`, Date.now());
    const annotations = { [policyKeys.spotPercentage]: String(percentage) };
    patches.push(cluster.api.patch('Deployment', workload, { metadata: { annotations } }));
    await pause(betweenChangesMs);
  }
  await Promise.all(patches);
  const latencies = await waitFor(
    'the leader to tell of each change',
    () => latenciesIn(readFileSync(component.logFile, 'utf8'), sentAtMs),
    { until: (found) => found.length === workloads.length, timeoutMs: 30_000, intervalMs: 250 },
  );
  return { changes: latencies.length, p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) };
}

function latenciesIn(log: string, sentAtMs: ReadonlyMap<string, number>): number[] {
  const latencies = new Map<string, number>();
  for (const line of log.split('\n')) {
    if (!line.includes('"split changed"')) continue;
    const { timestamp, workload }: { readonly timestamp: string; readonly workload: string } =
      JSON.parse(line);
    const ms = Date.parse(timestamp) - (sentAtMs.get(workload) ?? Number.NaN);
    if (ms >= 0 && !latencies.has(workload)) latencies.set(workload, ms);
  }
  return [...latencies.values()];
}

/** What a churn costs, seen from outside. */
export interface Churned {
  readonly pods: number;
  readonly seconds: number;
  readonly rssMiB: number;
  readonly waitP99Ms: number;
  readonly lookP99Ms: number;
}

export const churnedAtOnce = 40;
const calmMs = 15_000;

/** Takes the pods of workloads away and has them made again, some workloads at a time. */
export async function replacePods(
  cluster: Cluster,
  controller: Controller,
  workloads: readonly string[],
  replicas: number,
): Promise<Churned> {
  const beganMs = performance.now();
  for (let from = 0; from < workloads.length; from += churnedAtOnce) {
    const some = workloads.slice(from, from + churnedAtOnce);
    for (const size of [0, replicas]) {
      await Promise.all(some.map((workload) => cluster.api.scale('Deployment', workload, size)));
      await waitFor(`${some.length} workloads of ${size} pods`, () => haveAll(cluster, some, size), {
        timeoutMs: 60_000,
        intervalMs: 250,
      });
    }
  }
  const seconds = (performance.now() - beganMs) / 1000;
  await pause(calmMs);
  const metrics = await metricsOf(controller);
  return {
    pods: workloads.length * replicas,
    seconds,
    rssMiB: rssMiB(controller.pid) ?? Number.NaN,
    waitP99Ms: p99Ms(metrics, 'workqueue_queue_duration_seconds'),
    lookP99Ms: p99Ms(metrics, 'controller_runtime_reconcile_time_seconds'),
  };
}

interface DeploymentObject extends KubeObject {
  readonly status: { readonly replicas?: number };
}

async function haveAll(cluster: Cluster, workloads: readonly string[], size: number): Promise<boolean> {
  const found = await Promise.all(
    workloads.map((one) => cluster.api.get<DeploymentObject>('Deployment', one)),
  );
  return found.every(({ status }) => (status.replicas ?? 0) === size);
}

/** The upper end of the bucket it is in. */
function p99Ms(metrics: string, name: string): number {
  const buckets = [...metrics.matchAll(new RegExp(`^${name}_bucket\\{(.*)\\} (\\d+)$`, 'gm'))]
    .filter(([, labels = '']) => /(?:name|controller)="workload"/.test(labels))
    .map(([, labels = '', count]) => ({
      upToMs: Number(/le="([\d.e-]+)"/.exec(labels)?.[1] ?? Number.POSITIVE_INFINITY) * 1000,
      count: Number(count),
    }));
  const all = buckets.at(-1)?.count ?? 0;
  return buckets.find(({ count }) => count >= 0.99 * all)?.upToMs ?? Number.NaN;
}

/** From the death of a leader to what its successor, a warm standby, does. */
export interface Failover {
  readonly secondsToLeading: number;
  readonly secondsToSwept: number;
  readonly standbyRssMiB: number;
}

export async function failOver(
  cluster: Cluster,
  leader: Controller,
  { name, workloads }: { readonly name: string; readonly workloads: number },
): Promise<Failover> {
  const standby = await startController(cluster, name);
  const standbyRssMiB = rssMiB(standby.pid) ?? Number.NaN;
  await leader.component.kill('SIGKILL');
  const diedMs = performance.now();
  const secondsUntil = async (what: string, looks: number, intervalMs: number): Promise<number> => {
    await waitFor(what, async () => (await looksOf(standby)) >= looks, { timeoutMs: 60_000, intervalMs });
    return (performance.now() - diedMs) / 1000;
  };
  const secondsToLeading = await secondsUntil('the standby to look at a workload', 1, 50);
  const secondsToSwept = await secondsUntil(
    `the standby to look at ${workloads} workloads`,
    workloads,
    askMs,
  );
  await standby.component.kill('SIGTERM');
  return { secondsToLeading, secondsToSwept, standbyRssMiB };
}
