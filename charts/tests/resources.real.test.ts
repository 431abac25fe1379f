/** @needs control-plane helm */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chartDir, type Cluster, Helm, type KubeObject, startCluster, waitFor } from '@spotalis/cluster';
import { stringify } from 'yaml';

const KIND = 'CustomResourceDefinition';

/** As a definition gives it. The largest number of JavaScript and the texts are what a template could spoil. */
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: KIND,
  metadata: { name: 'toys.spotalis.io' },
  spec: {
    group: 'spotalis.io',
    scope: 'Cluster',
    names: { kind: 'Toy', listKind: 'ToyList', plural: 'toys', singular: 'toy', categories: ['spotalis'] },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  count: { type: 'integer', format: 'int64', maximum: Number.MAX_SAFE_INTEGER },
                  status: { type: 'string', enum: ['True', 'False', '1'] },
                  text: {
                    type: 'string',
                    maxLength: 9,
                    'x-kubernetes-validations': [{ rule: `self.matches('^[a-z]\\\\.{{x}}$') || true` }],
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const toy = {
  apiVersion: 'spotalis.io/v1alpha1',
  kind: 'Toy',
  metadata: { name: 'one' },
  spec: { count: 1 },
};
const release = { name: 'spotalis', namespace: 'spotalis-system' };
const on = { global: { config: { modules: { toys: { enabled: true } } } } };
const off = { global: { config: { modules: { toys: { enabled: false } } } } };
const unkept = { crds: { keep: false } };

describe('the CRDs of modules in the chart', () => {
  const chart = join(mkdtempSync(join(tmpdir(), 'chart-')), 'spotalis');
  let cluster: Cluster;
  let helm: Helm;

  beforeAll(async () => {
    cpSync(chartDir(), chart, { recursive: true });
    mkdirSync(`${chart}/charts/controller/files/crds/toys`, { recursive: true });
    writeFileSync(`${chart}/charts/controller/files/crds/toys/toys.yaml`, stringify(crd));
    // They know the modules that there are, which this one is not.
    for (const part of ['.', 'charts/controller', 'charts/webhook', 'charts/redis'])
      rmSync(`${chart}/${part}/values.schema.json`);
    cluster = await startCluster({ spotNodes: 0, onDemandNodes: 0 });
    helm = await Helm.prepare({ kubeconfig: cluster.kubeconfig });
  }, 120_000);
  afterAll(async () => {
    rmSync(join(chart, '..'), { recursive: true, force: true });
    helm?.dispose();
    await cluster?.stop();
  });

  const rendered = async (values: object): Promise<readonly KubeObject[]> =>
    (await helm.template(release, chart, { ...values })).filter(({ kind }) => kind === KIND);
  const find = () => cluster.api.find(KIND, crd.metadata.name);
  const gone = () => waitFor('the CRD to be gone', async () => (await find()) === undefined);
  const createToy = () =>
    waitFor('a toy', async () => {
      try {
        return await cluster.api.create(toy);
      } catch {
        // Its path comes a moment after its CRD.
        return undefined;
      }
    });

  it('are rendered for a module that is on, word for word, and kept', async () => {
    const [found] = await rendered(on);
    expect(found).toMatchObject({ ...crd, metadata: { annotations: { 'helm.sh/resource-policy': 'keep' } } });
    expect(found?.metadata?.labels).toMatchObject({ 'app.kubernetes.io/name': 'spotalis' });
    const [bare] = await rendered({ ...on, ...unkept });
    expect(bare).toMatchObject(crd);
    expect(bare?.metadata?.annotations).toBeUndefined();
  });

  it.each([
    ['off', off],
    ['not named', {}],
  ])('are not rendered for a module that is %s', async (_, values) => {
    expect(await rendered(values)).toEqual([]);
  });

  it('outlive the module and the release, and are taken up by the next one', async () => {
    await helm.install(release, chart, off);
    expect(await find()).toBeUndefined();
    await helm.upgrade(release, chart, on);
    await createToy();
    await helm.upgrade(release, chart, off);
    expect(await cluster.api.find('Toy', 'one')).toBeDefined();
    await helm.uninstall(release);
    expect(await cluster.api.find('Toy', 'one')).toBeDefined();

    await helm.install(release, chart, { ...on, ...unkept });
    await helm.uninstall(release);
    await gone();
  }, 120_000);

  it('outlive the module, and not the release, where they are not kept', async () => {
    await helm.install(release, chart, { ...on, ...unkept });
    await createToy();
    await helm.upgrade(release, chart, { ...off, ...unkept });
    expect(await cluster.api.find('Toy', 'one')).toBeDefined();
    await helm.uninstall(release);
    await gone();
  }, 120_000);
});
