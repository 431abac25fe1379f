/** @needs control-plane helm */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ApiClient,
  chartDir,
  type Cluster,
  Helm,
  type KubeObject,
  type Release,
  startCluster,
  type Values,
  waitFor,
} from '@spotalis/cluster';
import {
  type Condition,
  mergeConditions,
  modules,
  readiness,
  readSpec,
  readStatus,
  rightReaches,
} from '@spotalis/core';
import { newerToy, toy, toyModule } from '@spotalis/core/testing';
import { chartWithToy, type ToyChart, toyAlert, toyPanel } from './toy-chart.ts';

/**
 * The chart as it was before modules had switches, because a clean clone may be shallow:
 * `git archive --format=tgz --prefix=spotalis/ -o charts/tests/fixtures/before-modules.tgz c173406:charts/spotalis`.
 */
const chartBefore = fileURLToPath(new URL('fixtures/before-modules.tgz', import.meta.url));

const CRD = 'CustomResourceDefinition';
const crdName = 'toypolicies.spotalis.io';
const all = [...modules, toyModule];

const switched = (isOn: boolean, names: readonly string[] = ['toy'], more: object = {}): Values => ({
  global: {
    config: { modules: Object.fromEntries(names.map((name) => [name, { enabled: isOn }])), ...more },
  },
});
const on = switched(true);
const off = switched(false);

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Every right that the roles of a service give, wherever: `controller: patch pods of ""`. */
function grantsIn(objects: readonly KubeObject[]): string[] {
  return objects.flatMap(({ kind = '', metadata, ...rest }) => {
    if (!/^(?:Cluster)?Role$/.test(kind) || !('rules' in rest)) return [];
    const service = metadata?.labels?.['app.kubernetes.io/component'] ?? '';
    return (rest.rules as readonly Rule[]).flatMap((rule) => grantsOf(service, rule));
  });
}

const grantsOf = (service: string, { apiGroups, resources, verbs }: Rule): string[] =>
  resources.flatMap((each) => verbs.map((verb) => `${service}: ${verb} ${each} of "${apiGroups.join()}"`));

const declared = (module: (typeof all)[number]): string[] =>
  (['controller', 'webhook'] as const).flatMap((service) =>
    rightReaches.flatMap((reach) =>
      (module.rights[service][reach] ?? []).flatMap(({ group, ...right }) =>
        grantsOf(service, { apiGroups: [group], ...right }),
      ),
    ),
  );

let chart: ToyChart;
beforeAll(() => {
  chart = chartWithToy();
});
afterAll(() => chart?.dispose());

describe('the switch of a module in the chart', () => {
  const release = { name: 'spotalis', namespace: 'spotalis-system' };
  let helm: Helm;
  beforeAll(async () => {
    helm = await Helm.prepare();
  }, 900_000);
  afterAll(() => helm?.dispose());

  const shown = { redis: { password: 'given' }, alerts: { enabled: true }, dashboard: { enabled: true } };
  const render = (values: Values) => helm.template(release, chart.path, { ...shown, ...values });

  it('brings its CRD, rights, setting, alerts and dashboard row', async () => {
    const objects = await render(on);
    expect(objects.find(({ kind }) => kind === CRD)?.metadata?.name).toBe(crdName);
    const grants = grantsIn(objects);
    expect(grants).toEqual(expect.arrayContaining(declared(toyModule)));
    expect(declared(toyModule)).toContain('controller: patch toypolicies/status of "spotalis.io"');
    const text = JSON.stringify(objects);
    expect(text).toContain(toyAlert.alert);
    expect(text).toContain(String.raw`\"title\": \"${toyPanel.title}\"`);
    expect(text.match(/modules:\\n {2}toy:\\n {4}enabled: true/g)).toHaveLength(2);
  });

  it.each([
    ['is off', off],
    ['nobody names', {}],
  ])('that %s brings nothing', async (_, values) => {
    const objects = await render(values);
    expect(objects.filter(({ kind }) => kind === CRD)).toEqual([]);
    expect(grantsIn(objects).filter((grant) => grant.includes('spotalis.io'))).toEqual([]);
    const text = JSON.stringify(objects);
    expect(text).not.toContain(toyAlert.alert);
    expect(text).not.toContain(toyPanel.title);
  });

  it.each([
    ['everywhere', {}],
    ['in listed namespaces', { scope: { namespaces: ['shop'] } }],
    ['with the ledger inside the webhook', { redis: { url: 'memory://' } }],
  ])('that is off leaves no right of any module behind, %s', async (_, config) => {
    const isEmbedded = 'redis' in config;
    const base = { ...shown, ...(isEmbedded && { redis: { enabled: false }, webhook: { replicas: 1 } }) };
    const names = all.map(({ name }) => name);
    const rendered = async (isOn: boolean) =>
      grantsIn(await render({ ...base, ...switched(isOn, names, config) }));
    const grants = new Set(await rendered(false));
    expect(grants).toContain('controller: list pods of ""');
    expect(all.flatMap(declared).filter((grant) => grants.has(grant))).toEqual([]);
    const wanted = all
      .flatMap(declared)
      .filter((grant) => isEmbedded || grant !== 'webhook: watch pods of ""');
    expect(await rendered(true)).toEqual(expect.arrayContaining(wanted));
  });

  it('takes along what only distribution needs', async () => {
    const objects = await render(switched(false, ['distribution']));
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata?.name}`);
    for (const gone of ['ConfigMap spotalis-droughts', 'PriorityClass spotalis-placeholder.spotalis-system'])
      expect(names).not.toContain(gone);
    const kinds = objects.map(({ kind }) => kind);
    expect(kinds).not.toContain('ValidatingAdmissionPolicy');
    const text = JSON.stringify(objects);
    expect(text).not.toContain('SpotalisDriftLasting');
    expect(text).not.toContain('Off target');
    expect(text).toContain('SpotalisNoLeader');
    expect(text).toContain('Time of an admission');
  });

  it.each(['controller', 'webhook'] as const)('is there where the %s is installed alone', async (service) => {
    const redis = { url: 'redis://mine:6379' };
    const alone = { name: `spotalis-${service}`, namespace: 'elsewhere' };
    const objects = await helm.template(alone, chart.of(service), switched(true, ['toy'], { redis }));
    expect(grantsIn(objects)).toContain(`${service}: watch toypolicies of "spotalis.io"`);
    expect(JSON.stringify(objects)).toContain(String.raw`modules:\n  toy:\n    enabled: true`);
    // One of the two has to bring it, and keeps it.
    const crds = objects.filter(({ kind }) => kind === CRD);
    expect(crds.map(({ metadata }) => metadata?.annotations)).toEqual(
      service === 'controller' ? [{ 'helm.sh/resource-policy': 'keep' }] : [],
    );
  });

  it.each([
    ['a module that there is not', { toi: { enabled: true } }, /additional properties 'toi' not allowed/],
    ['a word', { toy: { enabled: 'on' } }, /got string, want boolean/],
  ])('refuses %s', async (_, switches, message) => {
    await expect(render({ global: { config: { modules: switches } } })).rejects.toThrow(message);
  });
});

interface Toy extends KubeObject {
  readonly metadata: { readonly name: string; readonly generation: number; readonly resourceVersion: string };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: { readonly conditions?: readonly Condition[] };
}

const least = { bounds: { cpu: { min: '100m', max: '2' } } };
const toyOf = (name: string, spec: object = {}) => ({
  apiVersion: 'spotalis.io/v1alpha1',
  kind: toy.kind,
  metadata: { name, namespace: 'default' },
  spec: { ...least, ...spec },
});

/** A look of the toy's module at all its objects, with whatever rights the controller has. */
async function look(api: ApiClient, definition: typeof toy | typeof newerToy): Promise<void> {
  for (const object of await api.list<Toy>(toy.kind)) {
    const { name, generation } = object.metadata;
    const finding = readiness(readSpec(definition, object)) ?? {
      type: 'Ready',
      status: 'True',
      reason: 'AsExpected',
      message: 'In force.',
    };
    const present = object.status?.conditions ?? [];
    expect(readStatus(definition, object).kind).toBe('valid');
    const conditions = mergeConditions(present, [finding], { generation, nowMs: Date.now() });
    if (conditions !== present)
      await api.patch(toy.kind, name, { status: { conditions } }, { subresource: 'status' });
  }
}

describe('a module on a real API server', () => {
  let cluster: Cluster;
  let helm: Helm;
  beforeAll(async () => {
    cluster = await startCluster({ spotNodes: 1, onDemandNodes: 2 });
    helm = await Helm.prepare({ kubeconfig: cluster.kubeconfig });
  }, 120_000);
  afterAll(async () => {
    helm?.dispose();
    await cluster?.stop();
  });

  const get = (name: string) => cluster.api.get<Toy>(toy.kind, name);
  const readyOf = ({ status }: Toy) => status?.conditions?.find(({ type }) => type === 'Ready');
  /** The path comes a moment after its CRD, and so does a schema that changed. */
  const create = (name: string, spec?: object) =>
    waitFor('a toy', async () => {
      try {
        return await cluster.api.create(toyOf(name, spec));
      } catch {
        return undefined;
      }
    });
  const isDone = async (act: () => Promise<unknown>) =>
    act().then(
      () => true,
      () => false,
    );
  /** Rights take a moment to be in force, or out of it. */
  async function controllerOf(release: Release, may: boolean): Promise<ApiClient> {
    const api = await cluster.apiAs(release.namespace, `${release.name}-controller`);
    await waitFor(`the controller ${may ? 'may' : 'may not'} list toys`, async () => {
      return (await isDone(() => api.list(toy.kind))) === may;
    });
    return api;
  }
  const uninstalled = async (release: Release) => {
    await helm.uninstall(release);
    await cluster.api.delete(CRD, crdName);
    await waitFor('the CRD to be gone', async () => (await cluster.api.find(CRD, crdName)) === undefined);
  };

  it('changes nothing for those who upgrade with the values of before', async () => {
    const release = { name: 'spotalis', namespace: 'before' };
    const labels = { app: 'web', 'spotalis.io/enabled': 'true' };
    await helm.install(release, chartBefore);
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } };
    const web = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default', labels },
      spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template },
    };
    await cluster.api.create(web);
    const running = () =>
      waitFor('all pods to run', async () => {
        const pods = await cluster.api.list<KubeObject & { status?: { phase?: string } }>('Pod');
        const isWhole = pods.length === 8 && pods.every(({ status }) => status?.phase === 'Running');
        return isWhole && pods.map(({ metadata }) => metadata?.uid ?? '').toSorted();
      });
    const pods = await running();
    // As little as the services write into what the chart brings empty.
    const certificate = { data: { 'tls.crt': Buffer.from('a certificate').toString('base64') } };
    const droughts = { data: { 'droughts.json': '{"version":1}' } };
    await cluster.api.patch('Secret', 'before/spotalis-webhook-certificate', certificate);
    await cluster.api.patch('ConfigMap', 'before/spotalis-droughts', droughts);
    const caBundle = Buffer.from(cluster.ca).toString('base64');
    const add = { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: caBundle };
    await cluster.api.patch('MutatingWebhookConfiguration', 'spotalis.before', [add]);
    /** What there is to lose, and what the services are told. */
    const kept = async () => ({
      pods: await running(),
      data: await Promise.all(
        [
          ['Secret', 'spotalis-webhook-certificate'],
          ['Secret', 'spotalis-redis'],
          ['ConfigMap', 'spotalis-droughts'],
          ['ConfigMap', 'spotalis-controller'],
          ['ConfigMap', 'spotalis-webhook'],
        ].map(async ([kind = '', name]) => {
          const { data } = await cluster.api.get<{ data: object }>(kind, `before/${name}`);
          return data;
        }),
      ),
      webhooks: await cluster.api
        .get<{ webhooks: unknown }>('MutatingWebhookConfiguration', 'spotalis.before')
        .then(({ webhooks }) => webhooks),
    });
    const before = await kept();
    expect(before.pods).toEqual(pods);
    expect(before).toMatchObject({ data: [certificate.data, {}, droughts.data, {}, {}] });
    const grantsBefore = grantsIn(await helm.template(release, chartBefore));

    await helm.upgrade(release, chartDir());
    expect(await kept()).toEqual(before);
    const sorted = (grants: readonly string[]) => [...new Set(grants)].toSorted();
    expect(sorted(grantsIn(await helm.template(release, chartDir())))).toEqual(sorted(grantsBefore));
    await helm.rollback(release);
    expect(await kept()).toEqual(before);
    await helm.uninstall(release);
    await cluster.api.delete('Deployment', 'web');
  }, 120_000);

  it('goes off and on again without touching its objects', async () => {
    const release = { name: 'spotalis', namespace: 'switched' };
    await helm.install(release, chart.path);
    await controllerOf(release, false);
    expect(await cluster.api.find(CRD, crdName)).toBeUndefined();

    await helm.upgrade(release, chart.path, on);
    await create('one');
    await look(await controllerOf(release, true), toy);
    const before = await get('one');
    expect(readyOf(before)).toMatchObject({ status: 'True' });

    await helm.upgrade(release, chart.path, off);
    const idle = await controllerOf(release, false);
    const status = { conditions: [] };
    await expect(idle.patch(toy.kind, 'one', { status }, { subresource: 'status' })).rejects.toThrow(
      'forbidden',
    );
    // Its owners may still change it.
    await cluster.api.patch(toy.kind, 'one', { spec: { weight: 7 } });
    const changed = await get('one');
    expect(changed).toMatchObject({ status: before.status, spec: { ...before.spec, weight: 7 } });

    await helm.upgrade(release, chart.path, on);
    const again = await controllerOf(release, true);
    expect(await get('one')).toEqual(changed);
    await look(again, toy);
    expect(readyOf(await get('one'))).toMatchObject({ observedGeneration: changed.metadata.generation });
    await uninstalled(release);
  }, 120_000);

  it('goes back with its release, and leaves its objects where they are', async () => {
    const release = { name: 'spotalis', namespace: 'rolled' };
    await helm.install(release, chart.path);
    await helm.upgrade(release, chart.path, on);
    await create('one');
    await look(await controllerOf(release, true), toy);
    const before = await get('one');

    await helm.rollback(release, 1);
    await controllerOf(release, false);
    expect(await get('one')).toEqual(before);
    // Helm's rollback does not take up what is there already; an upgrade does, even after it failed.
    await expect(helm.rollback(release, 2)).rejects.toThrow(`cannot patch "${crdName}"`);
    await helm.upgrade(release, chart.path, on);
    await controllerOf(release, true);
    expect(await get('one')).toEqual(before);
    await uninstalled(release);
  }, 120_000);

  it('refuses an invalid object at once, and says what is wrong with one that got past', async () => {
    const release = { name: 'spotalis', namespace: 'changed' };
    await helm.install(release, chart.path, on);
    await create('old', { weight: 900 });
    for (const [spec, field, said] of [
      [{ window: '2m' }, 'spec.window', '"2m" is not a duration from 6m to 1h. Example: "30m"'],
      [
        { weight: 5000 },
        'spec.weight',
        'Invalid value: 5000: spec.weight in body should be less than or equal to 1000',
      ],
      [{ throttled: 60 }, 'spec.throttled', '60 is not less than greedy, which is 50. Example: 2'],
    ] as const) {
      const refusal = await cluster.api.apply(toyOf('refused', spec)).catch(String);
      expect(refusal).toContain(field);
      expect(refusal).toContain(said);
    }
    await look(await controllerOf(release, true), toy);
    expect(readyOf(await get('old'))).toMatchObject({ status: 'True' });

    // The next version has other bounds, one word more and one field more.
    chart.changeResource(newerToy);
    await helm.upgrade(release, chart.path, on);
    await create('new', { mode: 'Later' });
    const newer = await controllerOf(release, true);
    await look(newer, newerToy);
    expect(readyOf(await get('new'))).toMatchObject({ status: 'True' });
    expect(readyOf(await get('old'))).toMatchObject({
      status: 'False',
      reason: 'Invalid',
      message:
        'This object is invalid, and nothing is done by it: spec.weight: 900 is not an integer from 1 to 500. Example: 100',
    });

    // The controller of before looks at what the newer version wrote, as in a rollout and after a rollback.
    const written = await get('new');
    await look(newer, toy);
    const left = await get('new');
    expect(readyOf(left)).toMatchObject({ status: 'False', reason: 'NewerVersion' });
    expect(readyOf(left)?.message).toContain('spec.mode: "Later" is not');
    expect(left.spec).toEqual(written.spec);
    await helm.rollback(release);
    await look(await controllerOf(release, true), toy);
    expect(readyOf(await get('new'))).toMatchObject({ status: 'False', reason: 'NewerVersion' });
    expect(await get('new')).toMatchObject({ spec: { mode: 'Later' } });
    await waitFor('the bounds of before', () =>
      isDone(() => cluster.api.create(toyOf('more', { weight: 900 }))),
    );
    await look(newer, toy);
    expect(readyOf(await get('old'))).toMatchObject({ status: 'True' });
    await uninstalled(release);
  }, 120_000);
});
