import {
  bundleServices,
  type Cluster,
  connectCluster,
  type Installation,
  type InstallationTarget,
  install,
  type RedisServers,
  startCluster,
  startRedis,
  uninstall,
} from '@spotalis/cluster';
import type { Plan } from './arguments.ts';
import type { Leave } from './interruption.ts';
import { sampleManifests, sampleNamespace } from './samples.ts';

/** Where the tour happens. Things can be done to a cluster of our own only. */
export interface Place {
  readonly target: InstallationTarget & { readonly kubeconfig: string };
  readonly own: Cluster | undefined;
  readonly redis: RedisServers | undefined;
  readonly installation: Installation;
}

/** Short enough to watch. The defaults suit production and are in docs/configuration.md. */
const pace = {
  rebalance: { cooldown: '1s', minPodAge: '2s' },
  fallback: { backoff: { initial: '5s' } },
};

export async function findPlace(plan: Plan, leave: Leave, say: (line: string) => void): Promise<Place> {
  say('Bundling the services ...');
  await bundleServices();
  const redis = await redisOrNone(plan.redis, say);
  if (redis) leave.later(() => redis.stop());
  const own = plan.kubeconfig === undefined ? await startOwn(leave, say) : undefined;
  const target = own ?? (await connect(plan.kubeconfig ?? '', leave));
  say('Starting the webhook and the controller ...');
  const installation = await install(target, {
    redis: { url: redis?.url ?? 'memory://' },
    webhooks: redis === undefined ? 1 : 3,
    configuration: pace,
    // There is no Service that would have to hear first of a webhook that ends.
    env: { webhook: { SPOTALIS_WEBHOOK_DRAIN_GRACE: '0s' } },
    ...(plan.host && { host: plan.host }),
  });
  leave.later(() => installation.stop());
  const webhooks = redis === undefined ? '1 webhook' : `${installation.webhooks.length} webhooks`;
  const ledger = redis === undefined ? 'the webhook' : 'Redis';
  say(`Up: ${webhooks}, ${installation.controllers.length} controllers, ledger in ${ledger}.`);
  return { target, own, redis, installation };
}

async function redisOrNone(
  wanted: Plan['redis'],
  say: (line: string) => void,
): Promise<RedisServers | undefined> {
  if (wanted === 'memory') return undefined;
  try {
    return await startRedis({ report: say });
  } catch (error) {
    if (wanted === 'real') throw error;
    say(`No Redis: ${error instanceof Error ? error.message : String(error)}`);
    say('Going on with the embedded ledger, which takes a single webhook.');
    return undefined;
  }
}

async function startOwn(leave: Leave, say: (line: string) => void): Promise<Cluster> {
  say('Starting a control plane with 12 nodes, 6 spot and 6 on-demand ...');
  // The evictions of a scene are counted in the API server's own log.
  const cluster = await startCluster({ report: say, audit: true });
  leave.later(() => cluster.stop());
  return cluster;
}

export async function connect(kubeconfig: string, leave: Leave) {
  const cluster = await connectCluster(kubeconfig);
  leave.later(() => cluster.disconnect());
  await cluster.claim(sampleManifests);
  leave.later(async () => {
    await uninstall(cluster.api);
    await cluster.api.delete('Namespace', sampleNamespace);
  });
  return cluster;
}
