import { type ApiClient, type RawObject, resource } from '@spotalis/kube';
import type { ServiceDeployment } from './picture.ts';

interface RawDeployment extends RawObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly spec?: {
        readonly serviceAccountName?: string;
        readonly containers?: readonly { readonly name: string; readonly image?: string }[];
      };
    };
  };
  readonly status?: { readonly readyReplicas?: number };
}

const deployments = resource<RawDeployment>('apps/v1', 'deployments', 'Deployment');

/** The label of everything that the chart makes. */
export const ours = 'app.kubernetes.io/name=spotalis';

export async function lookAtDeployments(client: ApiClient): Promise<readonly ServiceDeployment[]> {
  const { items } = await client.list(deployments, { labelSelector: ours });
  return items.flatMap(({ metadata, spec, status }): ServiceDeployment[] => {
    const { name, namespace = '', labels = {} } = metadata;
    const service = labels['app.kubernetes.io/component'];
    if (service !== 'webhook' && service !== 'controller' && service !== 'redis') return [];
    const { serviceAccountName = 'default', containers = [] } = spec?.template?.spec ?? {};
    return [
      {
        service,
        namespace,
        name,
        instance: labels['app.kubernetes.io/instance'] ?? '',
        replicas: spec?.replicas ?? 1,
        readyReplicas: status?.readyReplicas ?? 0,
        image:
          containers.find((container) => container.name === service)?.image ?? containers[0]?.image ?? '',
        version: labels['app.kubernetes.io/version'] ?? '',
        serviceAccount: serviceAccountName,
      },
    ];
  });
}
