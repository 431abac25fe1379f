/**
 * The process that `up` leaves behind: it holds the cluster, and the cluster goes with it. It tells `up` how
 * the start goes and then goes on alone; if `up` goes first, the start is given up.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { startCluster } from '../cluster.ts';
import { bundleServices } from '../installation/bundles.ts';
import { install } from '../installation/installation.ts';
import type { UpPlan } from './arguments.ts';
import { type ClusterSummary, summaryFile } from './state.ts';
import { reasonOf } from '../process/failure.ts';

export type HostMessage =
  | { readonly kind: 'progress'; readonly line: string }
  | { readonly kind: 'ready'; readonly summary: ClusterSummary }
  | { readonly kind: 'failed'; readonly message: string };

const plan: UpPlan = JSON.parse(process.argv[2] ?? '{}');
let ready = false;
process.on('disconnect', () => {
  if (!ready) process.exit(1);
});

try {
  const start = performance.now();
  const { stateDir, spotNodes, onDemandNodes, podsPerNode, audit, realNode, port, binaries } = plan;
  const { webhooks, controllers } = plan;
  const report = (line: string) => tell({ kind: 'progress', line });
  const cluster = await startCluster({
    stateDir,
    spotNodes,
    onDemandNodes,
    podsPerNode,
    audit,
    realNode,
    report,
    ...(port !== undefined && { port }),
    ...(binaries !== undefined && { binaries }),
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void cluster.stop());
  const redis = plan.redis === 'real' ? await cluster.startRedis({ report }) : undefined;
  const redisUrl = redis?.url ?? (plan.redis === 'memory' ? 'memory://' : undefined);
  if (webhooks + controllers > 0) {
    report('bundling the services');
    await bundleServices();
    await install(cluster, {
      redis: { url: redisUrl ?? 'memory://' },
      webhooks,
      controllers,
      // With a real node the API server is at its end of the line to it.
      ...(realNode && { host: cluster.realNode.network.hostAddress }),
    });
  }
  const summary: ClusterSummary = {
    state: stateDir,
    kubeconfig: cluster.kubeconfig,
    server: cluster.server,
    redis: redisUrl ?? null,
    auditLog: audit ? cluster.auditLog.file : null,
    logs: cluster.logDir,
    ports: { ...cluster.ports, ...(redis && { redis: redis.port }) },
    pids: { host: process.pid, ...cluster.pids },
    secondsToReady: Math.round((performance.now() - start) / 100) / 10,
  };
  writeFileSync(`${summaryFile(stateDir)}.new`, `${JSON.stringify(summary, null, 2)}\n`);
  renameSync(`${summaryFile(stateDir)}.new`, summaryFile(stateDir));
  ready = true;
  tell({ kind: 'ready', summary });
  // The watchdog alone does not keep a process alive.
  const alive = setInterval(() => undefined, 2 ** 30);
  await cluster.ended;
  clearInterval(alive);
  process.exit(0);
} catch (error) {
  // The channel would keep this process alive; nobody else does by now.
  tell({ kind: 'failed', message: reasonOf(error) }, () => process.exit(1));
}

function tell(message: HostMessage, told: () => void = () => undefined): void {
  if (process.connected) process.send?.(message, told);
  else told();
}
