import { setTimeout as pause } from 'node:timers/promises';
import { type Cluster, installationNamespace, waitFor } from '@spotalis/cluster';
import { cpuMs, filesMiB, rssMiB } from '../processes.ts';
import { askMs, type Controller, looksOf, startController } from './process.ts';

/** One controller process, alone, over what is in the cluster. */
export interface Observation {
  readonly secondsToReady: number;
  readonly secondsToSwept: number;
  readonly cpuSecondsToReady: number;
  readonly rssMiB: number;
  readonly filesMiB: number;
  readonly cpuPercentAtRest: number;
  readonly leaseWritesPerMinute: number;
  readonly otherWritesPerMinute: number;
  readonly readsPerMinute: number;
}

export interface Rest {
  /** Taking office, and the first LIST of each ReplicaSet within the next minute, are not rest. */
  readonly afterMs: number;
  readonly forMs: number;
}

const user = `system:serviceaccount:${installationNamespace}:spotalis-controller`;

export async function observe(
  cluster: Cluster,
  { name, rest, workloads }: { readonly name: string; readonly rest: Rest; readonly workloads: number },
): Promise<{ readonly controller: Controller; readonly observation: Observation }> {
  const beganMs = performance.now();
  const controller = await startController(cluster, name);
  const { pid } = controller;
  const readyMs = performance.now();
  const cpuAtReady = cpuMs(pid) ?? Number.NaN;
  await waitFor(
    `${workloads} workloads to be looked at`,
    async () => ({ looks: await looksOf(controller) }),
    { timeoutMs: 120_000, intervalMs: askMs, until: ({ looks }) => looks >= workloads },
  );
  const sweptMs = performance.now();
  await pause(rest.afterMs);
  const restedSinceMs = Date.now();
  const cpuBefore = cpuMs(pid) ?? Number.NaN;
  await pause(rest.forMs);
  const restedMs = Date.now() - restedSinceMs;
  const observation = {
    secondsToReady: (readyMs - beganMs) / 1000,
    secondsToSwept: (sweptMs - readyMs) / 1000,
    cpuSecondsToReady: cpuAtReady / 1000,
    rssMiB: rssMiB(pid) ?? Number.NaN,
    filesMiB: filesMiB(pid) ?? Number.NaN,
    cpuPercentAtRest: (100 * ((cpuMs(pid) ?? Number.NaN) - cpuBefore)) / restedMs,
    ...requestsPerMinute(cluster, restedSinceMs, restedMs),
  };
  return { controller, observation };
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
