import { describe, expect, it } from '@jest/globals';
import { ApiError, type ListQuery, type Resource } from '@spotalis/kube';
import { assumedSettings, readSettings } from './configuration.ts';
import { webhookState } from './registration.ts';

const registration = (namespace: string, webhook = 'pods.spotalis.io') => ({
  metadata: { name: `spotalis.${namespace}`, uid: namespace, resourceVersion: '1' },
  webhooks: [{ name: webhook, clientConfig: { service: { namespace, name: 'webhook' } } }],
});

/** A cluster with these registrations, and Services without an endpoint in these namespaces. */
function cluster(items: readonly ReturnType<typeof registration>[], dead: readonly string[] = []) {
  return {
    list: ({ plural }: Resource, { namespace = '' }: ListQuery = {}) => {
      const endpoints = dead.includes(namespace) ? [] : [{}];
      return Promise.resolve({ items: plural === 'endpointslices' ? [{ endpoints }] : items });
    },
    get: (_resource: Resource, { name }: { name: string }) => {
      const found = items.find(({ metadata }) => metadata.name === name);
      const missing = new ApiError({ status: 404, body: {}, request: 'GET' });
      return found === undefined ? Promise.reject(missing) : Promise.resolve(found);
    },
  } as never;
}

const named = (name: string) => {
  const text = `redis: { url: redis://redis:6379 }\nwebhook: { configurationName: ${name} }`;
  const map = { metadata: { name: 'c', namespace: 'a' }, data: { 'spotalis.yaml': text } };
  return readSettings({ list: () => Promise.resolve({ items: [map] }) } as never, undefined);
};
const assumed = () => assumedSettings('the configuration may not be read');
const foreign = registration('mesh', 'inject.mesh.io');

describe('whether the webhook serves, where no configuration was read', () => {
  it('is told by the only registration with a webhook of ours, whatever it is called', async () => {
    const settings = await assumed();
    const ours = registration('system');
    expect(await webhookState(cluster([foreign, ours]), settings)).toEqual({ kind: 'serving' });
    expect(await webhookState(cluster([foreign, ours], ['system']), settings)).toEqual({
      kind: 'notServing',
      detail: 'the Service system/webhook has no ready endpoint',
    });
  });

  it('is taken for granted where there are several', async () => {
    const several = cluster([registration('one'), registration('two')], ['one', 'two']);
    expect(await webhookState(several, await assumed())).toEqual({ kind: 'serving' });
  });

  it('is no question where there is none', async () => {
    expect(await webhookState(cluster([foreign]), await assumed())).toEqual({
      kind: 'notServing',
      detail: 'there is no MutatingWebhookConfiguration with a webhook pods.spotalis.io',
    });
  });

  it('is taken for granted where registrations may not be read', async () => {
    const list = () => Promise.reject(new ApiError({ status: 403, body: {}, request: 'GET' }));
    expect(await webhookState({ list } as never, await assumed())).toEqual({ kind: 'serving' });
  });
});

describe('whether the webhook serves', () => {
  it('is told by the registration that the configuration names', async () => {
    const settings = await named('spotalis.two');
    const both = [registration('one'), registration('two')];
    expect(await webhookState(cluster(both, ['one']), settings)).toEqual({ kind: 'serving' });
    expect(await webhookState(cluster(both, ['two']), settings)).toMatchObject({ kind: 'notServing' });
  });

  it.each([[[registration('one')]], [[registration('two', 'inject.mesh.io')]]])(
    'is denied where that is not there, or has no webhook of ours: %j',
    async (there) => {
      expect(await webhookState(cluster(there), await named('spotalis.two'))).toEqual({
        kind: 'notServing',
        detail: 'there is no MutatingWebhookConfiguration spotalis.two with a webhook pods.spotalis.io',
      });
    },
  );
});
