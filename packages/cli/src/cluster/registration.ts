import type { LabelSelector, WebhookState } from '@spotalis/core';
import { type ApiClient, ApiError, type RawObject, resource } from '@spotalis/kube';
import type { Settings } from './configuration.ts';

export interface RawRegistration extends RawObject {
  readonly webhooks?: readonly RawWebhook[];
}

export interface RawWebhook {
  readonly name: string;
  readonly clientConfig: {
    readonly service?: { readonly namespace: string; readonly name: string };
    readonly caBundle?: string;
  };
  readonly failurePolicy?: string;
  readonly timeoutSeconds?: number;
  readonly namespaceSelector?: LabelSelector;
}

interface RawSlice extends RawObject {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[];
}

const KIND = 'MutatingWebhookConfiguration';
const registrations = resource<RawRegistration>(
  'admissionregistration.k8s.io/v1',
  'mutatingwebhookconfigurations',
  KIND,
);
const slices = resource<RawSlice>('discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice');

/** What the one webhook in it is called, whatever the registration is. */
const WEBHOOK = 'pods.spotalis.io';

export const webhookIn = ({ webhooks = [] }: RawRegistration): RawWebhook | undefined =>
  webhooks.find(({ name }) => name === WEBHOOK);

/** All that have a webhook of ours. */
export async function listRegistrations(client: ApiClient): Promise<readonly RawRegistration[]> {
  const { items } = await client.list(registrations);
  return items.filter((registration) => webhookIn(registration) !== undefined);
}

/**
 * Which of ours is meant: the one that the configuration names. The chart gives each installation another name, so
 * that where no configuration was read it can only be told while there is but one. Null: there is none; undefined:
 * it is one of several.
 */
export function ownAmong<One>(
  ours: readonly One[],
  nameOf: (one: One) => string,
  { assumed, values }: Pick<Settings, 'assumed' | 'values'>,
): One | null | undefined {
  if (!assumed) return ours.find((one) => nameOf(one) === values.webhook.configurationName) ?? null;
  const [first = null, ...others] = ours;
  return others.length === 0 ? first : undefined;
}

/** As far as it can be told from outside of the cluster's network. What may not be read counts as working. */
export async function webhookState(client: ApiClient, settings: Settings): Promise<WebhookState> {
  try {
    const ours = await (settings.assumed ? listRegistrations(client) : readNamed(client, settings));
    const own = ownAmong(ours, ({ metadata }) => metadata.name, settings);
    if (own === undefined) return { kind: 'serving' };
    if (own === null) {
      const name = settings.assumed ? '' : ` ${settings.values.webhook.configurationName}`;
      return { kind: 'notServing', detail: `there is no ${KIND}${name} with a webhook ${WEBHOOK}` };
    }
    const service = webhookIn(own)?.clientConfig.service;
    if (service === undefined || (await readyEndpoints(client, service)) > 0) return { kind: 'serving' };
    const detail = `the Service ${service.namespace}/${service.name} has no ready endpoint`;
    return { kind: 'notServing', detail };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'serving' };
  }
}

/** Reading the one asks for fewer rights than listing them. */
async function readNamed(client: ApiClient, { values }: Settings): Promise<readonly RawRegistration[]> {
  try {
    const one = await client.get(registrations, { name: values.webhook.configurationName });
    return webhookIn(one) === undefined ? [] : [one];
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
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
