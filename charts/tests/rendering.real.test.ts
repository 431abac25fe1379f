/** @needs helm @also helm-4 */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { chartDir, Helm, type KubeObject, type Values } from '@spotalis/cluster';

const release = { name: 'spotalis', namespace: 'spotalis-system' };
const external = { redis: { enabled: false }, global: { config: { redis: { url: 'redis://mine:6379' } } } };
const subcharts = ['controller', 'webhook', 'redis'] as const;
type Chart = 'spotalis' | (typeof subcharts)[number];

interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

/** Every value of its own that the schema of a chart knows, as the umbrella calls it, with its schema. */
function valuesOf(chart: Chart): [string, Schema][] {
  const isWhole = chart === 'spotalis';
  const schema: Schema = readJson(`${chartDir(isWhole ? undefined : chart)}/values.schema.json`);
  const walk = (path: readonly string[], node: Schema): [string, Schema][] =>
    node.properties === undefined
      ? [[path.join('.'), node]]
      : Object.entries(node.properties).flatMap(([name, inner]) => walk([...path, name], inner));
  const others = new Set<string>(['global', ...subcharts]);
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => !others.has(name))
    .flatMap(([name, inner]) => walk(isWhole ? [name] : [chart, name], inner));
}

function nested(path: string, value: unknown): Values {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Values;
}

function merged(one: unknown, other: unknown): unknown {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return other;
  if (Array.isArray(one) || Array.isArray(other)) return other;
  const both: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other))
    both[name] = name in both ? merged(both[name], value) : value;
  return both;
}

/** Another value than any default. */
function sample({ type, enum: choices, items }: Schema, isOn: boolean): unknown {
  if (choices !== undefined) return choices.at(-1);
  if (Array.isArray(type) || type === 'integer') return 7;
  if (type === 'boolean') return !isOn;
  if (type === 'array') return items?.type === 'integer' ? [7] : [{ operator: 'Exists' }];
  if (type === 'object') return { 'example.com/a': 'b' };
  return 'sample';
}

describe('the charts', () => {
  let helm: Helm;
  beforeAll(async () => {
    helm = await Helm.prepare();
  }, 900_000);
  afterAll(() => helm?.dispose());

  it('pass helm lint', async () => {
    await helm.lint(chartDir());
    await helm.lint(chartDir('redis'));
    for (const chart of ['controller', 'webhook'] as const)
      await helm.lint(chartDir(chart), { global: external.global });
  });

  const refused: [string, Values, RegExp][] = [
    ['a typo', { webhook: { replica: 3 } }, /additional properties 'replica' not allowed/],
    ['a typo in the configuration', { global: { config: { rebalance: { cooldwn: '1s' } } } }, /'cooldwn'/],
    ['a word for a number', { webhook: { replicas: 'three' } }, /replicas.*got string, want integer/s],
    [
      'a label that is no text',
      { webhook: { podLabels: { more: true } } },
      /podLabels\/more.*got boolean, want string/,
    ],
    ['no Redis at all', { redis: { enabled: false } }, /redis\.enabled is false.*names no server/],
    ['two Redis', { global: external.global }, /set redis\.enabled=false/],
    [
      'several webhooks with a ledger each',
      { redis: { enabled: false }, global: { config: { redis: { url: 'memory://' } } } },
      /one webhook, and there may be 3/,
    ],
    [
      'several leaders',
      { global: { config: { controller: { leaderElection: { enabled: false } } } } },
      /controller\.replicas is 2.*at once/,
    ],
    [
      'an answer that comes too late',
      { global: { config: { webhook: { decisionTimeout: '1701ms' } } } },
      /1701ms, within 300ms of webhook\.timeoutSeconds, which is 2/,
    ],
    [
      'a provided certificate that is not provided',
      { global: { config: { webhook: { certs: { mode: 'provided' } } } } },
      /webhook\.certificate\.secretName is empty/,
    ],
    [
      'an autoscaler without room',
      { webhook: { autoscaling: { enabled: true, minReplicas: 20 } } },
      /minReplicas is 20, above maxReplicas, which is 10/,
    ],
    [
      'a namespace that is both listed and excluded',
      { global: { config: { scope: { namespaces: ['shop', 'quiet'], excludedNamespaces: ['quiet'] } } } },
      /scope\.namespaces has quiet, which is in scope\.excludedNamespaces.*for example \[shop, bank\]/,
    ],
    [
      'its own namespace as one of workloads',
      { global: { config: { scope: { namespaces: [release.namespace] } } } },
      /scope\.namespaces has spotalis-system.*nothing is managed there/,
    ],
    [
      'a monitor of nothing',
      {
        webhook: { metrics: { podMonitor: { enabled: true } } },
        global: { config: { metrics: { enabled: false } } },
      },
      /nothing to scrape/,
    ],
  ];
  it.each(refused)('refuse %s', async (_, values, message) => {
    await expect(helm.template(release, chartDir(), values)).rejects.toThrow(message);
  });

  it('accept a decision that is just in time', async () => {
    const values = { global: { config: { webhook: { decisionTimeout: '1700ms' } } } };
    await expect(helm.template(release, chartDir(), values)).resolves.not.toEqual([]);
  });

  it.each<Chart>(['spotalis', ...subcharts])(
    'use every value of %s',
    async (chart) => {
      // On, so that what belongs to an option shows; a password, because a random one never is the same.
      const options: Values = {
        webhook: {
          autoscaling: { enabled: true },
          metrics: { serviceMonitor: { enabled: true } },
          networkPolicy: { egress: { enabled: true } },
        },
        controller: {
          metrics: { serviceMonitor: { enabled: true } },
          networkPolicy: { egress: { enabled: true } },
        },
        redis: { password: 'given' },
        alerts: { enabled: true },
        dashboard: { enabled: true },
      };
      const certs: Readonly<Record<string, string>> = {
        'webhook.certificate.issuerRef': 'cert-manager',
        'webhook.certificate.secretName': 'provided',
        'webhook.certificate.caBundle': 'provided',
      };
      const unused: string[] = [];
      for (const [path, schema] of valuesOf(chart)) {
        const withOptions = (mode: string | undefined) =>
          mode === undefined
            ? options
            : merged(options, {
                webhook: { certificate: { secretName: 'given' } },
                global: { config: { webhook: { certs: { mode } } } },
              });
        let base = withOptions(certs[path]) as Values;
        if (path === 'webhook.replicas') base = { redis: options['redis'] };
        if (path === 'redis.enabled') base = external;
        const isOn = !path.includes('podMonitor');
        const changed = merged(base, nested(path, sample(schema, isOn))) as Values;
        if (path === 'redis.enabled') continue;
        const [one, other] = await Promise.all([
          helm.template(release, chartDir(), base),
          helm.template(release, chartDir(), changed),
        ]);
        if (JSON.stringify(one) === JSON.stringify(other)) unused.push(path);
      }
      // Of use from the first module on that has a CRD: resources.real.test.ts brings one.
      const isIdle = chart === 'spotalis' && !existsSync(`${chartDir('controller')}/files/crds`);
      expect(unused).toEqual(isIdle ? ['crds.keep'] : []);
    },
    120_000,
  );

  it.each(['controller', 'webhook'] as const)(
    'render the %s alone, with its own configuration',
    async (chart) => {
      const alone = { name: `spotalis-${chart}`, namespace: 'elsewhere' };
      const objects = await helm.template(alone, chartDir(chart), { global: external.global });
      const text = configOf(objects, `spotalis-${chart}`);
      expect(text).toContain('url: redis://mine:6379');
      // Both name the same registration, whichever of them is there.
      expect(text).toContain('configurationName: spotalis.elsewhere');
      await expect(helm.template(alone, chartDir(chart))).rejects.toThrow('names no server');
    },
  );

  it('bring the alerts and the dashboard of their files, whole while every module is on', async () => {
    const labels = { team: 'web' };
    const values = { alerts: { enabled: true, labels }, dashboard: { enabled: true, labels } };
    const objects = await helm.template(release, chartDir(), values);
    const files = `${chartDir()}/files`;
    expect(objects.find(({ kind }) => kind === 'PrometheusRule')).toMatchObject({
      metadata: { labels },
      spec: parse(readFileSync(`${files}/alerts.yaml`, 'utf8')),
    });
    const dashboard = objects.find(({ metadata }) => metadata?.name === 'spotalis-dashboard');
    expect(dashboard).toMatchObject({
      metadata: { labels: { grafana_dashboard: '1', team: 'web' } },
    });
    const text = dashboard && 'data' in dashboard ? Object.values(dashboard.data ?? {}).join('') : '';
    expect(JSON.parse(text)).toEqual(readJson(`${files}/dashboard.json`));
  });

  it('have the labels of the services stand over those of their pods when they are scraped', async () => {
    const on = { metrics: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } } };
    const objects = await helm.template(release, chartDir(), { webhook: on, controller: on });
    const endpoints = objects.flatMap(({ kind, ...rest }) =>
      kind === 'ServiceMonitor' || kind === 'PodMonitor' ? [JSON.stringify(rest)] : [],
    );
    expect(endpoints).toHaveLength(4);
    for (const endpoint of endpoints) expect(endpoint).toContain('"honorLabels":true');
  });

  it('give the registration and the services the same scope', async () => {
    const namespaceSelector = { matchLabels: { team: 'web' } };
    const values = { global: { config: { scope: { namespaceSelector, excludedNamespaces: ['quiet'] } } } };
    const objects = await helm.template(release, chartDir(), values);
    const registration = objects.find(({ kind }) => kind === 'MutatingWebhookConfiguration');
    expect(registration).toMatchObject({
      webhooks: [
        {
          failurePolicy: 'Ignore',
          namespaceSelector: {
            matchLabels: { team: 'web' },
            matchExpressions: [
              { key: 'spotalis.io/enabled', operator: 'In', values: ['true'] },
              {
                key: 'kubernetes.io/metadata.name',
                operator: 'NotIn',
                values: ['quiet', 'kube-system', 'spotalis-system'],
              },
            ],
          },
        },
      ],
    });
    expect(registration?.metadata?.annotations).toBeUndefined();
    for (const service of ['controller', 'webhook'])
      expect(configOf(objects, `spotalis-${service}`)).toMatch(
        /- quiet\n\s*- kube-system\n\s*- spotalis-system/,
      );
  });

  it('give rights outside of namespaces for what is of none alone, where namespaces are listed', async () => {
    const rightsOf = async (namespaces: readonly string[]) => {
      const values = { redis: { password: 'given' }, global: { config: { scope: { namespaces } } } };
      const objects = await helm.template(release, chartDir(), values);
      return objects.flatMap((object) =>
        'rules' in object && Array.isArray(object['rules'])
          ? object['rules'].flatMap(({ resources, verbs }: { resources: string[]; verbs: string[] }) =>
              resources.flatMap((each) =>
                verbs.map((verb) => {
                  const place = object.kind === 'ClusterRole' ? '' : object.metadata?.namespace;
                  return `${place}: ${object.metadata?.name} ${verb} ${each}`;
                }),
              ),
            )
          : [],
      );
    };
    const [everywhere, listed] = await Promise.all([rightsOf([]), rightsOf(['shop', 'bank', 'shop'])]);
    const ofNone = / (namespaces|nodes|nodepools|persistentvolumes|mutatingwebhookconfigurations)$/;
    const isOfNone = (right: string): boolean => ofNone.test(right);
    const whole = (rights: readonly string[]) => rights.filter((right) => right.startsWith(': '));
    expect(whole(listed)).toEqual(whole(everywhere).filter(isOfNone));
    const moved = whole(everywhere).filter((right) => !isOfNone(right));
    expect(moved).toContain(': spotalis-controller.spotalis-system create pods/eviction');
    for (const namespace of ['shop', 'bank']) {
      const there = listed.filter((right) => right.startsWith(`${namespace}: `));
      expect(there.toSorted()).toEqual(moved.map((right) => `${namespace}${right}`).toSorted());
    }
  });

  it('ask about the listed namespaces alone', async () => {
    // One by itself may be written without the brackets, as in the services' own file.
    const values = { global: { config: { scope: { namespaces: 'shop' } } } };
    const objects = await helm.template(release, chartDir(), values);
    const listed = { key: 'kubernetes.io/metadata.name', operator: 'In', values: ['shop'] };
    const asks = /^(MutatingWebhookConfiguration|ValidatingAdmissionPolicy)$/;
    const found = objects.filter(({ kind = '' }) => asks.test(kind)).map((each) => JSON.stringify(each));
    expect(found).toHaveLength(2);
    for (const each of found) expect(each).toContain(JSON.stringify(listed));
  });

  it.each(['spotalis-controller', 'my-webhook', 'team-redis', 'a'.repeat(53)])(
    'name their own Redis in a release called %s, and nothing too long',
    async (name) => {
      const monitored = { metrics: { serviceMonitor: { enabled: true } } };
      const more = { alerts: { enabled: true }, dashboard: { enabled: true } };
      const values = { webhook: monitored, controller: monitored, ...more };
      const objects = await helm.template({ name, namespace: 'elsewhere' }, chartDir(), values);
      const text = JSON.stringify(objects);
      const [, host] = /redis:\/\/([^:]+):6379/.exec(text) ?? [];
      const namesOf = (wanted: string) =>
        objects.flatMap(({ kind, metadata }) => (kind === wanted ? [metadata?.name ?? ''] : []));
      expect(namesOf('Service')).toContain(host);
      expect(namesOf('Secret')).toContain(host);
      expect(text.match(/"secretName":"[^"]+"/g)).toEqual(Array(3).fill(`"secretName":"${host}"`));
      expect(namesOf('Service').filter((each) => each.length > 63)).toEqual([]);
      const base = host?.replace(/-redis$/, '');
      const dashboards = namesOf('ConfigMap').filter((each) => each.endsWith('-dashboard'));
      expect([namesOf('PrometheusRule'), dashboards]).toEqual([[base], [`${base}-dashboard`]]);
    },
  );

  it('restart Redis for another password or prefix, which it reads at its start alone', async () => {
    const redisOf = async (values: Values) =>
      JSON.stringify(
        (await helm.template(release, chartDir(), values)).find(
          ({ kind, metadata }) => kind === 'Deployment' && metadata?.name?.endsWith('-redis'),
        ),
      );
    const plain = await redisOf({});
    // Rendered by itself, each time with another random password.
    expect(await redisOf({ global: { config: { logging: { level: 'debug' } } } })).toBe(plain);
    expect(await redisOf({ redis: { password: 'given' } })).not.toBe(plain);
    expect(await redisOf({ global: { config: { redis: { keyPrefix: 'other:' } } } })).not.toBe(plain);
  });

  it('open the way to a single node of a Cluster, which needs no brackets', async () => {
    const values = {
      redis: { enabled: false },
      global: { config: { redis: { cluster: { nodes: 'mine:7000' } } } },
      webhook: { networkPolicy: { egress: { enabled: true } } },
    };
    const objects = await helm.template(release, chartDir(), values);
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
    expect(JSON.stringify(policies)).toContain('{"port":7000}');
  });

  it('restart nothing for what is picked up while running, and everything for the rest', async () => {
    const sums = async (config: Values) =>
      (await helm.template(release, chartDir(), { global: { config } }))
        .flatMap(({ kind, ...rest }) => (kind === 'Deployment' ? [JSON.stringify(rest)] : []))
        .flatMap((text) => /"checksum\/config":"(\w+)"/.exec(text)?.[1] ?? []);
    const plain = await sums({});
    expect(plain).toHaveLength(2);
    expect(await sums({ logging: { level: 'debug' }, readOnlyMode: true })).toEqual(plain);
    expect(await sums({ logging: { format: 'text' } })).not.toEqual(plain);
  });
});

function configOf(objects: readonly KubeObject[], name: string): string {
  const found = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata?.name === name);
  return found !== undefined && 'data' in found ? JSON.stringify(found.data).replaceAll('\\n', '\n') : '';
}
