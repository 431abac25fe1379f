import type { WebhookState } from '@spotalis/core';
import { type ApiClient, ApiError, type RawObject, resource } from '@spotalis/kube';
import { readSettings, type Settings } from './configuration.ts';
import { fetchDroughts } from './droughts.ts';
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

export const configurations = resource<RawWebhooks>(
  'admissionregistration.k8s.io/v1',
  'mutatingwebhookconfigurations',
  'MutatingWebhookConfiguration',
);
const slices = resource<RawSlice>('discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice');

/** Reads the cluster once. */
export async function takeSurvey(session: Session, signal: AbortSignal): Promise<Survey> {
  return surveyBy(await readSettings(session.client, session.configFile), session, signal);
}

export async function surveyBy(
  settings: Settings,
  { client, namespace }: Session,
  signal: AbortSignal,
): Promise<Survey> {
  const listed = settings.values.scope.namespaces;
  const [objects, webhook, droughts] = await Promise.all([
    fetchObjects(client, { namespace, listed, nodeLabels: settings.nodeLabels, signal }),
    webhookOf(client, settings.values.webhook.configurationName),
    fetchDroughts(client),
  ]);
  return new Survey(objects, settings, webhook, droughts);
}

/** As far as it can be told from outside of the cluster's network. What may not be read counts as working. */
async function webhookOf(client: ApiClient, name: string): Promise<WebhookState> {
  try {
    const { webhooks = [] } = await client.get(configurations, { name });
    for (const { clientConfig } of webhooks) {
      const { service } = clientConfig;
      if (service === undefined) continue;
      if ((await readyEndpoints(client, service)) === 0) {
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

/** How many are behind a Service. */
export async function readyEndpoints(
  client: ApiClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<number> {
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const { items } = await client.list(slices, { namespace, labelSelector });
  // Absent means ready, as the API defines it.
  return items
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false).length;
}
