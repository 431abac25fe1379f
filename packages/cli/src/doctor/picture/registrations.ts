import { type ApiClient, ApiError } from '@spotalis/kube';
import { listRegistrations, readyEndpoints, webhookIn } from '../../cluster/registration.ts';
import type { Registration } from './picture.ts';

export async function lookAtRegistrations(client: ApiClient): Promise<readonly Registration[]> {
  const ours = await listRegistrations(client);
  const found = ours.map(async (registration): Promise<readonly Registration[]> => {
    const webhook = webhookIn(registration);
    if (webhook === undefined) return [];
    const { clientConfig } = webhook;
    const { service } = clientConfig;
    return [
      {
        name: registration.metadata.name,
        caBundle: Buffer.from(clientConfig.caBundle ?? '', 'base64').toString(),
        // The defaults are the API's.
        failurePolicy: webhook.failurePolicy ?? 'Fail',
        timeoutSeconds: webhook.timeoutSeconds ?? 10,
        namespaceSelector: webhook.namespaceSelector ?? {},
        service:
          service === undefined ? null : { ...service, readyEndpoints: await endpointsOf(client, service) },
      },
    ];
  });
  return (await Promise.all(found)).flat();
}

async function endpointsOf(
  client: ApiClient,
  service: { readonly namespace: string; readonly name: string },
): Promise<number | null> {
  try {
    return await readyEndpoints(client, service);
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return null;
    throw error;
  }
}
