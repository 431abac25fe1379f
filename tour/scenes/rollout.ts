import { waitFor } from '@spotalis/cluster';
import { splitOf } from '@spotalis/e2e/workloads';
import type { Scene } from './scene.ts';
import { inWords, type Playground } from './playground.ts';

export const rollout: Scene = {
  name: 'rollout',
  title: 'Roll out a new version of search',
  watchFor: 'two revisions share the workload meanwhile; the new one ends exact, without an eviction.',
  async play(playground) {
    const search = playground.workload('search');
    const at = new Date().toISOString();
    await search.patch({ spec: { template: { metadata: { annotations: { 'example.com/released': at } } } } });
    await rolledOut(playground, search.path);
    return `Every pod of the new revision is Ready: ${inWords(splitOf(await search.ready(40)))}.`;
  },
};

interface Deployment {
  readonly metadata?: { readonly generation?: number };
  readonly spec: { readonly replicas: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
  };
}

async function rolledOut({ cluster }: Playground, path: string): Promise<void> {
  await waitFor(
    `the rollout of ${path}`,
    async () => {
      const { metadata, spec, status } = await cluster.api.get<Deployment>('Deployment', path);
      return (
        status?.observedGeneration === metadata?.generation &&
        status?.replicas === spec.replicas &&
        status.updatedReplicas === spec.replicas &&
        status.availableReplicas === spec.replicas
      );
    },
    { timeoutMs: 120_000, intervalMs: 100 },
  );
}
