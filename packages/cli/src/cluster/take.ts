import type { WebhookState } from '@spotalis/core';
import { type ApiClient, ApiError, type RawObject, resource } from '@spotalis/kube';
import { readSettings } from './configuration.ts';
import { fetchObjects } from './fetch.ts';
import type { Session } from './session.ts';
import { Survey } from './survey.ts';

interface RawWebhooks extends RawObject {
  readonly webhooks?: readonly {
    readonly clientConfig: { readonly service?: { readonly namespace: string; readonly name: string } };
  }[];
}

interface RawSlice extends RawObject {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[];
}

const configurations = resource<RawWebhooks>(
  'admissionregistration.k8s.io/v1',
  'mutatingwebhookconfigurations',
  'MutatingWebhookConfiguration',
);
const slices = resource<RawSlice>('discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice');

/** Reads the cluster once. */
export async function takeSurvey(
  { client, namespace, configFile }: Session,
  signal: AbortSignal,
): Promise<Survey> {
  const settings = await readSettings(client, configFile);
  const [objects, webhook] = await Promise.all([
    fetchObjects(client, { namespace, nodeLabels: settings.nodeLabels, signal }),
    webhookOf(client, settings.values.webhook.configurationName),
  ]);
  return new Survey(objects, settings, webhook);
}

/** As far as it can be told from outside of the cluster's network. What may not be read counts as working. */
async function webhookOf(client: ApiClient, name: string): Promise<WebhookState> {
  try {
    const { webhooks = [] } = await client.get(configurations, { name });
    for (const { clientConfig } of webhooks) {
      const { service } = clientConfig;
      if (service === undefined) continue;
      const { items } = await client.list(slices, {
        namespace: service.namespace,
        labelSelector: `kubernetes.io/service-name=${service.name}`,
      });
      // Absent means ready, as the API defines it.
      const isReady = items.some(({ endpoints }) =>
        (endpoints ?? []).some(({ conditions }) => conditions?.ready !== false),
      );
      if (!isReady) {
        const detail = `the Service ${service.namespace}/${service.name} has no ready endpoint`;
        return { kind: 'notServing', detail };
      }
    }
    return { kind: 'serving' };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.status === 404
      ? { kind: 'notServing', detail: `there is no MutatingWebhookConfiguration ${name}` }
      : { kind: 'serving' };
  }
}
