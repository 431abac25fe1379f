import { type Cluster, waitFor } from '@spotalis/cluster';
import { manifest, optedInNamespace, Workload } from '../workloads/workload.ts';

/**
 * Resolves when pods are steered through the Service. For a second or so after its pods are Ready kube-proxy does not
 * lead to them yet, and the API server goes on without the webhook. Leaves no pod behind.
 */
export async function reached(
  cluster: Cluster,
  namespace: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const policy = { spotPercentage: 50, minOnDemand: 0 };
  const declaration = { name: 'web', namespace, replicas: 1, policy };
  const { metadata, ...space } = optedInNamespace(namespace);
  const labelled = { ...space, metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } } };
  await cluster.api.apply([labelled, manifest(declaration)]);
  const workload = new Workload(cluster.api, declaration);
  let before = 0;
  let replicas = 1;
  await waitFor(
    'the API server to reach the webhook',
    async () => {
      const { unsteered } = await workload.splitWhenCreated(replicas);
      if (unsteered === before) return true;
      before = unsteered;
      await workload.scale(++replicas);
      return false;
    },
    { timeoutMs: 60_000, until: (steered) => steered },
  );
  await workload.scale(0);
  await workload.splitWhenCreated(0);
}
