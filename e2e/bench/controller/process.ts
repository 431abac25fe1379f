import { join } from 'node:path';
import {
  type Cluster,
  type Component,
  freePorts,
  installationNamespace,
  nodeArgsOf,
  nodeEnvironment,
} from '@spotalis/cluster';
import { repository } from '../results.ts';

/** A controller process, as its image runs it. */
export interface Controller {
  readonly component: Component;
  readonly pid: number;
  readonly metricsPort: number;
}

/** Resolves when it is ready, which takes full stores. */
export async function startController(cluster: Cluster, name: string): Promise<Controller> {
  const [metricsPort = 0, healthPort, debugPort] = await freePorts(3);
  const component = await cluster.startService({
    name,
    nodeArgs: nodeArgsOf('controller'),
    script: join(repository, 'packages', 'controller', 'dist', 'controller.mjs'),
    args: ['--config', join(cluster.stateDir, 'spotalis.yaml')],
    kubeconfig: await cluster.kubeconfigFor(installationNamespace, 'spotalis-controller'),
    env: {
      ...nodeEnvironment(),
      SPOTALIS_METRICS_PORT: String(metricsPort),
      SPOTALIS_HEALTH_PORT: String(healthPort),
      SPOTALIS_DEBUG_PORT: String(debugPort),
    },
    ready: async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok,
  });
  return { component, pid: component.pid ?? 0, metricsPort };
}

export async function metricsOf({ metricsPort }: Controller): Promise<string> {
  return (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
}

/** The page of a leader has thousands of lines, and to make it is work of the very process that is measured. */
export const askMs = 500;

/** How often it has looked at a workload. */
export async function looksOf(controller: Controller): Promise<number> {
  const text = await metricsOf(controller);
  const found = /^controller_runtime_reconcile_time_seconds_count\{controller="workload"\} (\d+)$/m.exec(
    text,
  );
  return Number(found?.[1] ?? 0);
}
