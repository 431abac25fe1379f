import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  bundleServices,
  type Cluster,
  freePorts,
  install,
  installationNamespace,
  startCluster,
  startRedis,
} from '@spotalis/cluster';
import type { Bench, BenchContext, Findings, Table } from '../bench.ts';
import { cpuMs, rssMiB } from '../processes.ts';
import { repository } from '../results.ts';
import { declareLoad, type Load, podsOf, prepareNamespace } from '../workloads.ts';

/** One controller process, alone, over what is in the cluster. */
interface Observation {
  readonly secondsToReady: number;
  readonly cpuSecondsToReady: number;
  readonly rssMiB: number;
  readonly cpuPercentAtRest: number;
  readonly leaseWritesPerMinute: number;
  readonly otherWritesPerMinute: number;
  readonly readsPerMinute: number;
}

const user = `system:serviceaccount:${installationNamespace}:spotalis-controller`;
/** Taking office and the first comparison of all ledgers are not rest. */
const calmMs = 15_000;

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
      const idle = await observe(cluster, 'controller-idle', restMs);
      await prepareNamespace(cluster.api, 'load');
      // Pods that stay pending are as many as those that run, and leave the machine to who is measured.
      await cluster.killComponent('kube-scheduler');
      await cluster.killComponent('kwok');
      report(`${podsOf(load)} pods are being created`);
      await declareLoad(cluster.api, load, 'load');
      report(`a controller over ${load.deployments} workloads`);
      const loaded = await observe(cluster, 'controller-loaded', restMs);
      await installation.balancer.close();
      return {
        baseline: 'the same process over an empty cluster.',
        tables: [table(load, restMs, idle, loaded)],
        raw: { idle, loaded },
      };
    } finally {
      await cluster.stop();
    }
  } finally {
    await redis.stop();
  }
}

async function observe(cluster: Cluster, name: string, restMs: number): Promise<Observation> {
  const [metricsPort, healthPort, debugPort] = await freePorts(3);
  const kubeconfig = await cluster.kubeconfigFor(installationNamespace, 'spotalis-controller');
  const beganMs = performance.now();
  const component = await cluster.startService({
    name,
    script: join(repository, 'packages', 'controller', 'dist', 'controller.mjs'),
    args: ['--config', join(cluster.stateDir, 'spotalis.yaml')],
    kubeconfig,
    env: {
      SPOTALIS_METRICS_PORT: String(metricsPort),
      SPOTALIS_HEALTH_PORT: String(healthPort),
      SPOTALIS_DEBUG_PORT: String(debugPort),
    },
    ready: async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok,
  });
  const secondsToReady = (performance.now() - beganMs) / 1000;
  const pid = component.pid ?? 0;
  const cpuAtReady = cpuMs(pid) ?? Number.NaN;
  await pause(calmMs);
  const restedSinceMs = Date.now();
  const cpuBefore = cpuMs(pid) ?? Number.NaN;
  await pause(restMs);
  const restedMs = Date.now() - restedSinceMs;
  const observation = {
    secondsToReady,
    cpuSecondsToReady: cpuAtReady / 1000,
    rssMiB: rssMiB(pid) ?? Number.NaN,
    cpuPercentAtRest: (100 * ((cpuMs(pid) ?? Number.NaN) - cpuBefore)) / restedMs,
    ...requestsPerMinute(cluster, restedSinceMs, restedMs),
  };
  await component.kill('SIGTERM');
  return observation;
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

export const controllerBench: Bench = { name: 'controller', title: 'The controller under load', run };
