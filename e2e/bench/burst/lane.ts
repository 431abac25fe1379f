import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Cluster,
  type Component,
  freePorts,
  install,
  type Installation,
  startCluster,
  startRedis,
} from '@spotalis/cluster';
import { ApiMetrics } from './api-metrics.ts';

/**
 * What stands between the API server and a pod. `null-webhook` is the product with its webhook replicas replaced
 * by ones that allow at once: same balancer, same registration, same controllers.
 */
export type LaneName = 'spotalis' | 'null-webhook' | 'no-webhook';

const replicas = 3;

/** A cluster of its own, so that no lane runs on what another left behind. */
export interface Lane {
  readonly name: LaneName;
  readonly cluster: Cluster;
  readonly apiMetrics: ApiMetrics;
  /** Of the webhook replicas, real or null. */
  readonly admissionPids: readonly number[];
  readonly controllerPids: readonly number[];
  /** The expositions of the webhook replicas, one after the other. */
  readonly admissionMetrics: () => Promise<string>;
  /** Fails, with the end of its log, when a process ended that should run: its numbers would be missing. */
  readonly checkAlive: () => void;
  readonly close: () => Promise<void>;
}

export async function openLane(name: LaneName, podsPerNode: number): Promise<Lane> {
  // Taken down in the reverse order, also when a later step fails.
  const closing: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).toReversed()) await step();
  };
  try {
    const redis = name === 'no-webhook' ? undefined : await startRedis();
    if (redis !== undefined) closing.push(() => redis.stop());
    const cluster = await startCluster({ audit: true, podsPerNode });
    closing.push(() => cluster.stop());
    const apiMetrics = new ApiMetrics(cluster);
    closing.push(() => apiMetrics.close());

    const installation =
      redis === undefined
        ? undefined
        : await install(cluster, {
            redis: { url: redis.url },
            webhooks: name === 'spotalis' ? replicas : 0,
            controllers: 2,
          });
    // The cluster ends all processes, at once; a drain would only be waited for.
    if (installation !== undefined) closing.push(() => installation.balancer.close());
    const { controllers = [] } = installation ?? {};
    const webhooks =
      name === 'null-webhook' && installation !== undefined
        ? await replaceWebhooks(cluster, installation)
        : (installation?.webhooks ?? []);
    return {
      name,
      cluster,
      apiMetrics,
      admissionPids: webhooks.flatMap(({ component }) => component.pid ?? []),
      controllerPids: controllers.flatMap(({ component }) => component.pid ?? []),
      admissionMetrics: async () => {
        const texts = webhooks.map(async ({ metricsPort }) =>
          (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
        );
        return (await Promise.all(texts)).join('\n');
      },
      checkAlive: () => {
        for (const { component } of [...webhooks, ...controllers]) {
          if (component.pid === undefined)
            throw new Error(`${component.name} ended in lane ${name}:\n${component.log()}`);
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface NullWebhook {
  readonly component: Component;
  readonly metricsPort: number;
}

async function replaceWebhooks(cluster: Cluster, installation: Installation): Promise<NullWebhook[]> {
  const ports = await freePorts(replicas);
  const metricsPorts = await freePorts(replicas);
  const started = ports.map(async (port, index) => {
    const metricsPort = metricsPorts[index] ?? 0;
    const component = await cluster.startService({
      name: `null-webhook-${index}`,
      script: fileURLToPath(new URL('./null-webhook.ts', import.meta.url)),
      args: [String(port), String(metricsPort), join(cluster.stateDir, 'webhook-certificates')],
      ready: () => accepts(port),
    });
    return { component, metricsPort };
  });
  const webhooks = await Promise.all(started);
  installation.balancer.spreadOver(ports);
  return webhooks;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
