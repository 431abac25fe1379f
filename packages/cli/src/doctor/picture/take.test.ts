import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ApiError, type Resource } from '@spotalis/kube';
import { takePicture } from './take.ts';

interface Review {
  readonly spec: {
    readonly user: string;
    readonly resourceAttributes: { readonly resource: string; readonly name?: string };
  };
}

const labels = (component: string) => ({
  'app.kubernetes.io/name': 'spotalis',
  'app.kubernetes.io/component': component,
});

/** `configured`: what the ConfigMap says of the registration's name, null where there is none. */
function installation(namespace: string, configured: string | null = `spotalis.${namespace}`) {
  const of = (component: string) => ({
    metadata: { name: `spotalis-${component}`, namespace, uid: namespace, labels: labels(component) },
  });
  const text = `redis: { url: redis://redis:6379 }\nwebhook: { configurationName: ${configured} }`;
  const template = { spec: { serviceAccountName: 'spotalis-webhook', containers: [] } };
  return {
    configMaps: configured === null ? [] : [{ ...of('controller'), data: { 'spotalis.yaml': text } }],
    deployments: [{ ...of('webhook'), spec: { template } }],
  };
}

/** Each webhook may do all, and touch no registration but that of its own namespace. */
function cluster(installations: readonly ReturnType<typeof installation>[], mayListConfigMaps = true) {
  const refused = new ApiError({ status: 403, body: {}, request: 'GET' });
  return {
    list: ({ plural }: Resource) => {
      if (plural === 'configmaps' && !mayListConfigMaps) return Promise.reject(refused);
      const items = installations.flatMap(({ configMaps, deployments }): object[] =>
        plural === 'configmaps' ? configMaps : plural === 'deployments' ? deployments : [],
      );
      return Promise.resolve({ items });
    },
    async *pages() {
      yield { items: [], resourceVersion: '1' };
    },
    get: () => Promise.reject(new ApiError({ status: 404, body: {}, request: 'GET' })),
    create: (_resource: Resource, _query: object, { spec: { user, resourceAttributes } }: Review) => {
      const [, , namespace] = user.split(':');
      const isOthers =
        resourceAttributes.resource === 'mutatingwebhookconfigurations' &&
        resourceAttributes.name !== `spotalis.${namespace}`;
      return Promise.resolve({ status: { allowed: !isOthers } });
    },
  };
}

async function rightsIn(client: ReturnType<typeof cluster>, configFile?: string) {
  const session = { client: client as never, namespace: 'shop', configFile, close: () => Promise.resolve() };
  const { picture } = await takePicture(session, new AbortController().signal, () => 0);
  return picture.installation.rights.map(({ account, what }) => `${account} may not ${what}`);
}

describe('the rights of the services', () => {
  const directory = mkdtempSync(join(tmpdir(), 'spotalis-'));
  const file = join(directory, 'spotalis.yaml');
  writeFileSync(file, 'redis: { url: redis://redis:6379 }\nwebhook: { configurationName: mine }');
  afterAll(() => rmSync(directory, { recursive: true }));

  const ofMine = ['get', 'patch'].map(
    (verb) => `one/spotalis-webhook may not ${verb} mutatingwebhookconfigurations mine`,
  );

  it('are asked for by the names of their own installation, of each of two', async () => {
    expect(await rightsIn(cluster([installation('one'), installation('two')]))).toEqual([]);
  });

  it('are missed in the second installation as in the first', async () => {
    expect(await rightsIn(cluster([installation('one'), installation('two', 'spotalis.one')]))).toEqual(
      ['get', 'patch'].map(
        (verb) => `two/spotalis-webhook may not ${verb} mutatingwebhookconfigurations spotalis.one`,
      ),
    );
  });

  it('are asked for by the file where there is no ConfigMap beside them, or none may be read', async () => {
    expect(await rightsIn(cluster([installation('one', null)]), file)).toEqual(ofMine);
    expect(await rightsIn(cluster([installation('one')], false), file)).toEqual(ofMine);
  });

  it('are not asked for where no configuration says which', async () => {
    expect(await rightsIn(cluster([installation('one', null), installation('two')]))).toEqual([]);
  });
});
