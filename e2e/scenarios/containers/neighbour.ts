import { chartDir, type Cluster, Helm, type KubeObject, type Values, waitFor } from '@spotalis/cluster';
import { namespaceOfContainers } from './release.ts';

const namespace = 'other-system';
const release = (name: string) => ({ name: `other-${name}`, namespace });

interface DeploymentObject extends KubeObject {
  readonly spec: { readonly replicas: number };
  readonly status: { readonly readyReplicas?: number };
}

interface RegistrationObject extends KubeObject {
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}

/** A second installation: each chart a release of its own, with a Redis that the services are told of. */
export class Neighbour {
  /** What its webhooks are registered as. */
  readonly configuration = 'other-spotalis.other-system';
  readonly #helm: Helm;

  private constructor(helm: Helm) {
    this.#helm = helm;
  }

  /** Resolves when everything is Ready and registered. */
  static async install(cluster: Cluster, namespaceSelector: Values): Promise<Neighbour> {
    const helm = await Helm.prepare({ kubeconfig: cluster.kubeconfig });
    const neighbour = new Neighbour(helm);
    await cluster.api.apply(namespaceOfContainers(namespace));
    const redis = { url: 'redis://other-spotalis-redis:6379', username: 'spotalis' };
    const global = {
      redisSecret: { name: 'other-spotalis-redis' },
      config: { redis, scope: { namespaceSelector }, rebalance: { cooldown: '1s', minPodAge: '1s' } },
    };
    await helm.install(release('redis'), chartDir('redis'));
    await helm.install(release('webhook'), chartDir('webhook'), { replicas: 1, global });
    await helm.install(release('controller'), chartDir('controller'), { replicas: 1, global });
    await waitFor(
      'the other installation to be Ready',
      async () => {
        const deployments = await cluster.api.list<DeploymentObject>('Deployment', { namespace });
        return deployments.map(({ spec, status }) => spec.replicas - (status.readyReplicas ?? 0));
      },
      { timeoutMs: 90_000, until: (missing) => missing.join() === '0,0,0' },
    );
    await waitFor('its certificate to be registered', async () => {
      const { webhooks } = await cluster.api.get<RegistrationObject>(
        'MutatingWebhookConfiguration',
        neighbour.configuration,
      );
      return webhooks[0]?.clientConfig.caBundle !== undefined;
    });
    return neighbour;
  }

  async uninstall(): Promise<void> {
    for (const name of ['controller', 'webhook', 'redis']) await this.#helm.uninstall(release(name));
    this.#helm.dispose();
  }
}
