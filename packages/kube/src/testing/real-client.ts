import { type Cluster, waitFor } from '@spotalis/cluster';
import { KubeConfig } from '@kubernetes/client-node';
import { Credentials } from '../configuration/credentials.ts';
import { loadKubeconfig } from '../configuration/kubeconfig.ts';
import { ApiClient } from '../transport/client.ts';
import { Transport, type TransportOptions } from '../transport/transport.ts';

/** The administrator's credentials, if wanted through a proxy on another port. */
export function credentialsOf(cluster: Cluster, port?: number): Credentials {
  const config = loadKubeconfig({ path: cluster.kubeconfig });
  if (port === undefined) {
    return new Credentials(config);
  }
  const moved = new KubeConfig();
  moved.loadFromOptions({
    clusters: config.clusters.map(({ caData, name }) => ({
      name,
      caData,
      server: `https://127.0.0.1:${port}`,
    })),
    users: config.users,
    contexts: config.contexts,
    currentContext: config.currentContext,
  });
  return new Credentials(moved);
}

/** A client of the real API server. */
export function clientOf(
  cluster: Cluster,
  options: Partial<TransportOptions> & { readonly port?: number } = {},
): ApiClient {
  const { port, ...rest } = options;
  return new ApiClient(
    new Transport({ credentials: credentialsOf(cluster, port), userAgent: 'kube-test', ...rest }),
  );
}

/** Resolves when the pod runs and is Ready. */
export async function ready(cluster: Cluster, name: string): Promise<void> {
  await waitFor(`pod ${name} to be ready`, async () => {
    const { status } = await cluster.api.get<{
      status: { conditions?: { type: string; status: string }[] };
    }>('Pod', name);
    return status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True');
  });
}
