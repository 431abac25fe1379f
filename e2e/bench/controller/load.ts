import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  bundleServices,
  type Cluster,
  freePorts,
  install,
  installationNamespace,
  nodeArgsOf,
  nodeEnvironment,
  startCluster,
  startRedis,
  waitFor,
} from '@spotalis/cluster';
import type { Bench, BenchContext, Findings, Table } from '../bench.ts';
import { cpuMs, rssMiB } from '../processes.ts';
import { repository } from '../results.ts';
import { declareLoad, type Load, podsOf, prepareNamespace } from '../workloads.ts';

/** One controller process, alone, over what is in the cluster. */
interface Observation {
  readonly secondsToReady: number;
  readonly secondsToSwept: number;
  readonly cpuSecondsToReady: number;
  readonly rssMiB: number;
  readonly cpuPercentAtRest: number;
  readonly leaseWritesPerMinute: number;
  readonly otherWritesPerMinute: number;
  readonly readsPerMinute: number;
}

/** What a churn costs, seen from outside. */
interface Churned {
  readonly rssMiB: number;
  readonly waitP99Ms: number;
  readonly lookP99Ms: number;
}

const user = `system:serviceaccount:${installationNamespace}:spotalis-controller`;
/** Taking office and the first comparison of all ledgers are not rest. */
const calmMs = 15_000;
/** Of the workloads, in the churn: an hour in which three pods in ten are replaced. */
const churnedShare = 0.3;
const churnedAtOnce = 40;

async function run({ quick, report }: BenchContext): Promise<Findings> {
  const policy = { spotPercentage: 70, minOnDemand: 2 };
  const load: Load = { name: 'load', deployments: quick ? 20 : 1_000, replicas: 10, policy };
  const restMs = quick ? 5_000 : 60_000;
  await bundleServices();
  const redis = await startRedis();
  try {
    const cluster = await startCluster({ audit: true, podsPerNode: 1_000 });
    try {
      const installation = await install(cluster, {
        redis: { url: redis.url },
        webhooks: 3,
        controllers: 0,
      });
      report('a controller over an empty cluster');
      const idle = await observe(cluster, { name: 'controller-idle', restMs, workloads: 0 });
      await prepareNamespace(cluster.api, 'load');
      // Pods that stay pending are as many as those that run, and leave the machine to who is measured.
      await cluster.killComponent('kube-scheduler');
      await cluster.killComponent('kwok');
      report(`${podsOf(load)} pods are being created`);
      await declareLoad(cluster.api, load, 'load');
      report(`a controller over ${load.deployments} workloads`);
      const workloads = load.deployments;
      const churn = Array.from({ length: workloads * churnedShare }, (_, index) => `load/load-${index}`);
      let churned: Churned | undefined;
      const loaded = await observe(cluster, { name: 'controller-loaded', restMs, workloads }, async (one) => {
        report(`${churn.length * load.replicas} pods are replaced`);
        churned = await replacePods(cluster, one, churn, load.replicas);
      });
      await installation.balancer.close();
      return {
        baseline: 'the same process over an empty cluster.',
        tables: [
          table(load, restMs, idle, loaded),
          ...(churned === undefined ? [] : [churnTable(churn.length * load.replicas, churned)]),
        ],
        raw: { idle, loaded, churned },
      };
    } finally {
      await cluster.stop();
    }
  } finally {
    await redis.stop();
  }
}

interface Observed {
  readonly pid: number;
  readonly metricsPort: number;
}

async function observe(
  cluster: Cluster,
  { name, restMs, workloads }: { readonly name: string; readonly restMs: number; readonly workloads: number },
  afterwards: (observed: Observed) => Promise<void> = () => Promise.resolve(),
): Promise<Observation> {
  const [metricsPort = 0, healthPort, debugPort] = await freePorts(3);
  const kubeconfig = await cluster.kubeconfigFor(installationNamespace, 'spotalis-controller');
  const beganMs = performance.now();
  const component = await cluster.startService({
    name,
    nodeArgs: nodeArgsOf('controller'),
    script: join(repository, 'packages', 'controller', 'dist', 'controller.mjs'),
    args: ['--config', join(cluster.stateDir, 'spotalis.yaml')],
    kubeconfig,
    env: {
      ...nodeEnvironment(),
      SPOTALIS_METRICS_PORT: String(metricsPort),
      SPOTALIS_HEALTH_PORT: String(healthPort),
      SPOTALIS_DEBUG_PORT: String(debugPort),
    },
    ready: async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok,
  });
  const readyMs = performance.now();
  const pid = component.pid ?? 0;
  const cpuAtReady = cpuMs(pid) ?? Number.NaN;
  await waitFor(
    `${workloads} workloads to be looked at`,
    async () => {
      const { groups } = await histogram(metricsPort, 'controller_runtime_reconcile_time_seconds');
      return { looked: groups.get('workload')?.at(-1)?.count ?? 0 };
    },
    { timeoutMs: 120_000, until: ({ looked }) => looked >= workloads },
  );
  const sweptMs = performance.now();
  await pause(calmMs);
  const restedSinceMs = Date.now();
  const cpuBefore = cpuMs(pid) ?? Number.NaN;
  await pause(restMs);
  const restedMs = Date.now() - restedSinceMs;
  const observation = {
    secondsToReady: (readyMs - beganMs) / 1000,
    secondsToSwept: (sweptMs - readyMs) / 1000,
    cpuSecondsToReady: cpuAtReady / 1000,
    rssMiB: rssMiB(pid) ?? Number.NaN,
    cpuPercentAtRest: (100 * ((cpuMs(pid) ?? Number.NaN) - cpuBefore)) / restedMs,
    ...requestsPerMinute(cluster, restedSinceMs, restedMs),
  };
  await afterwards({ pid, metricsPort });
  await component.kill('SIGTERM');
  return observation;
}

/** Takes the pods of workloads away and has them made again, some workloads at a time. */
async function replacePods(
  cluster: Cluster,
  { pid, metricsPort }: Observed,
  workloads: readonly string[],
  replicas: number,
): Promise<Churned> {
  for (let from = 0; from < workloads.length; from += churnedAtOnce) {
    const some = workloads.slice(from, from + churnedAtOnce);
    for (const size of [0, replicas]) {
      await Promise.all(some.map((workload) => cluster.api.scale('Deployment', workload, size)));
    }
  }
  await pause(calmMs);
  return {
    rssMiB: rssMiB(pid) ?? Number.NaN,
    waitP99Ms: await p99Ms(metricsPort, 'workqueue_queue_duration_seconds'),
    lookP99Ms: await p99Ms(metricsPort, 'controller_runtime_reconcile_time_seconds'),
  };
}

interface Bucket {
  readonly upToMs: number;
  /** Of all up to there. */
  readonly count: number;
}

/** By the value of the label that names a queue or a controller. */
async function histogram(port: number, name: string): Promise<{ readonly groups: Map<string, Bucket[]> }> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const groups = new Map<string, Bucket[]>();
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${name}_bucket{`)) continue;
    const group = /(?:name|controller)="([^"]+)"/.exec(line)?.[1] ?? '';
    const le = /le="([^"]+)"/.exec(line)?.[1] ?? '';
    const upToMs = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le) * 1000;
    const count = Number(line.slice(line.lastIndexOf(' ') + 1));
    groups.set(group, [...(groups.get(group) ?? []), { upToMs, count }]);
  }
  return { groups };
}

async function p99Ms(port: number, name: string): Promise<number> {
  const buckets = (await histogram(port, name)).groups.get('workload') ?? [];
  const all = buckets.at(-1)?.count ?? 0;
  return buckets.find(({ count }) => count >= 0.99 * all)?.upToMs ?? Number.NaN;
}

function requestsPerMinute(cluster: Cluster, sinceMs: number, forMs: number) {
  const events = cluster.auditLog.read(({ user: { username }, requestReceivedTimestamp }) => {
    const atMs = Date.parse(requestReceivedTimestamp);
    return username === user && atMs >= sinceMs && atMs < sinceMs + forMs;
  });
  const perMinute = (count: number): number => (count * 60_000) / forMs;
  const reads = events.filter(({ verb }) => ['get', 'list', 'watch'].includes(verb)).length;
  const leases = events.filter(
    ({ verb, objectRef }) => verb !== 'get' && objectRef?.resource === 'leases',
  ).length;
  return {
    readsPerMinute: perMinute(reads),
    leaseWritesPerMinute: perMinute(leases),
    otherWritesPerMinute: perMinute(events.length - reads - leases),
  };
}

const measures: readonly { readonly title: string; readonly of: (observed: Observation) => number }[] = [
  { title: 'From start to ready, s', of: ({ secondsToReady }) => secondsToReady },
  { title: 'From then until each was looked at, s', of: ({ secondsToSwept }) => secondsToSwept },
  { title: 'CPU until ready, s', of: ({ cpuSecondsToReady }) => cpuSecondsToReady },
  { title: 'Memory at rest (RSS), MiB', of: ({ rssMiB: memory }) => memory },
  { title: 'CPU at rest, %', of: ({ cpuPercentAtRest }) => cpuPercentAtRest },
  { title: 'Writes a minute at rest: the Lease', of: ({ leaseWritesPerMinute }) => leaseWritesPerMinute },
  { title: 'Writes a minute at rest: all else', of: ({ otherWritesPerMinute }) => otherWritesPerMinute },
  { title: 'Reads a minute at rest', of: ({ readsPerMinute }) => readsPerMinute },
];

function table(load: Load, restMs: number, idle: Observation, loaded: Observation): Table {
  const count = `${load.deployments.toLocaleString('en-US')} workloads, ${podsOf(load).toLocaleString('en-US')} pods`;
  return {
    title: `One leader over ${count}`,
    method: `Started alone, once over the empty cluster and once over the full one, whose pods three webhook replicas had admitted. Ready: /readyz says so, which takes synced stores. At rest: ${restMs / 1000} s that begin ${calmMs / 1000} s after it was ready; requests from the API server's audit log, CPU and memory from /proc. The pods stay pending, so that only the controller works.`,
    columns: [
      { key: 'measure', title: 'Measure' },
      { key: 'loaded', title: count },
      { key: 'idle', title: 'Empty cluster' },
      { key: 'ratio', title: 'Ratio' },
    ],
    rows: measures.map(({ title, of }) => ({
      measure: title,
      loaded: of(loaded),
      idle: of(idle),
      ratio: of(loaded) / of(idle),
    })),
  };
}

function churnTable(pods: number, churned: Churned): Table {
  return {
    title: `After ${pods.toLocaleString('en-US')} pods were replaced`,
    method: `The same leader, right afterwards: workloads scaled to 0 and back, ${churnedAtOnce} at a time, then ${calmMs / 1000} s of calm. Percentiles since its start, as the bucket of the histogram they are in: a look at a workload begins half a second after the first of a burst of events, plus the wait.`,
    columns: [
      { key: 'measure', title: 'Measure' },
      { key: 'value', title: 'Value' },
    ],
    rows: [
      { measure: 'Memory (RSS), MiB', value: churned.rssMiB },
      { measure: 'Wait for a worker, p99 at most, ms', value: churned.waitP99Ms },
      { measure: 'A look with its decision, p99 at most, ms', value: churned.lookP99Ms },
    ],
  };
}

export const controllerBench: Bench = { name: 'controller', title: 'The controller under load', run };
