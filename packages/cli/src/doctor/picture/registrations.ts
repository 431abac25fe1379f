import type { LabelSelector } from '@spotalis/core';
import { type ApiClient, ApiError, type RawObject, resource } from '@spotalis/kube';
import { configurations, readyEndpoints } from '../../cluster/take.ts';
import type { Registration } from './picture.ts';

interface RawRegistration extends RawObject {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: {
      readonly service?: { readonly namespace: string; readonly name: string };
      readonly caBundle?: string;
    };
    readonly failurePolicy?: string;
    readonly timeoutSeconds?: number;
    readonly namespaceSelector?: LabelSelector;
  }[];
}

const all = resource<RawRegistration>(
  `${configurations.group}/${configurations.version}`,
  configurations.plural,
  configurations.kind,
);

/** What the one webhook in it is called, whatever the registration is. */
const WEBHOOK = 'pods.spotalis.io';

export async function lookAtRegistrations(client: ApiClient): Promise<readonly Registration[]> {
  const { items } = await client.list(all);
  const found = items.map(async ({ metadata, webhooks = [] }): Promise<readonly Registration[]> => {
    const webhook = webhooks.find(({ name }) => name === WEBHOOK);
    if (webhook === undefined) return [];
    const { clientConfig } = webhook;
    const { service } = clientConfig;
    return [
      {
        name: metadata.name,
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
