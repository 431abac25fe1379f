/** @needs control-plane helm definitions @also helm-4 kubernetes-1.30 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  chartDir,
  type Cluster,
  findDefinitions,
  Helm,
  type KubeObject,
  startCluster,
  type Values,
  waitFor,
} from '@spotalis/cluster';
import { optional } from './optional.ts';

/** Every kind that the charts render or that follows from one of them. */
const KINDS = [
  'ClusterRole',
  'ClusterRoleBinding',
  'ConfigMap',
  'Deployment',
  'EndpointSlice',
  'FlowSchema',
  'HorizontalPodAutoscaler',
  'Lease',
  'MutatingWebhookConfiguration',
  'NetworkPolicy',
  'Pod',
  'PodDisruptionBudget',
  'PriorityClass',
  'PriorityLevelConfiguration',
  'ReplicaSet',
  'Role',
  'RoleBinding',
  'Secret',
  'Service',
  'ServiceAccount',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
];

/** As little as the webhook writes into what the chart brought empty. */
const certificate = { data: { 'tls.crt': Buffer.from('a certificate').toString('base64') } };
const told = { data: { 'droughts.json': '{"version":1}' } };
const held = { spec: { holderIdentity: 'webhook-1', acquireTime: '2026-01-01T00:00:00.000000Z' } };

interface Filled extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly holderIdentity?: string };
  readonly webhooks?: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}

describe('a release on a real API server', () => {
  let cluster: Cluster;
  let helm: Helm;
  beforeAll(async () => {
    cluster = await startCluster({ spotNodes: 1, onDemandNodes: 3 });
    helm = await Helm.prepare({ kubeconfig: cluster.kubeconfig });
  }, 120_000);
  afterAll(async () => {
    helm?.dispose();
    await cluster?.stop();
  });

  /** Enforces the profile `restricted`, so that pods which do not fit are never made. */
  async function namespace(name: string): Promise<void> {
    const labels = {
      'pod-security.kubernetes.io/enforce': 'restricted',
      'pod-security.kubernetes.io/warn': 'restricted',
    };
    await cluster.api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    await waitFor('the namespace to be furnished', async () => {
      const account = await cluster.api.find('ServiceAccount', `${name}/default`);
      return (
        account !== undefined &&
        (await cluster.api.find('ConfigMap', `${name}/kube-root-ca.crt`)) !== undefined
      );
    });
  }

  async function inventory(): Promise<string[]> {
    const found = await Promise.all(
      KINDS.map(async (kind) =>
        (await cluster.api.list(kind)).map(
          ({ metadata }) => `${kind} ${metadata?.namespace ?? ''}/${metadata?.name}`,
        ),
      ),
    );
    // Nodes renew their Leases, and are nobody's here.
    return found
      .flat()
      .filter((each) => !each.startsWith('Lease kube-'))
      .toSorted();
  }

  const running = (space: string, component: string, count: number) =>
    waitFor(`${count} pods of the ${component}`, async () => {
      const labelSelector = `app.kubernetes.io/component=${component}`;
      const pods = await cluster.api.list<KubeObject & { status?: { phase?: string } }>('Pod', {
        namespace: space,
        labelSelector,
      });
      return pods.filter(({ status }) => status?.phase === 'Running').length === count;
    });

  it('keeps what the services wrote over upgrade and rollback, and leaves nothing behind', async () => {
    const release = { name: 'spotalis', namespace: 'spotalis-system' };
    const registration = `spotalis.${release.namespace}`;
    const places = {
      certificate: `${release.namespace}/spotalis-webhook-certificate`,
      leader: `${release.namespace}/spotalis-controller`,
      droughts: `${release.namespace}/spotalis-droughts`,
    };
    await namespace(release.namespace);
    const before = await inventory();

    await helm.install(release, chartDir());
    await Promise.all([
      running(release.namespace, 'webhook', 3),
      running(release.namespace, 'controller', 2),
      running(release.namespace, 'redis', 1),
    ]);
    await cluster.api.patch('Secret', places.certificate, certificate);
    await cluster.api.patch('Lease', places.certificate, held);
    await cluster.api.patch('Lease', places.leader, held);
    await cluster.api.patch('ConfigMap', places.droughts, told);
    const caBundle = Buffer.from(cluster.ca).toString('base64');
    const path = '/webhooks/0/clientConfig/caBundle';
    await cluster.api.patch('MutatingWebhookConfiguration', registration, [
      { op: 'add', path, value: caBundle },
    ]);
    const redis = await cluster.api.get<Filled>('Secret', `${release.namespace}/spotalis-redis`);

    const isWhole = async () => {
      const secret = await cluster.api.get<Filled>('Secret', places.certificate);
      expect(secret.data).toEqual(certificate.data);
      for (const place of [places.certificate, places.leader]) {
        const { spec } = await cluster.api.get<Filled>('Lease', place);
        expect(spec?.holderIdentity).toBe(held.spec.holderIdentity);
      }
      expect((await cluster.api.get<Filled>('ConfigMap', places.droughts)).data).toEqual(told.data);
      const { webhooks = [] } = await cluster.api.get<Filled>('MutatingWebhookConfiguration', registration);
      expect(webhooks[0]?.clientConfig.caBundle).toBe(caBundle);
      const { data } = await cluster.api.get<Filled>('Secret', `${release.namespace}/spotalis-redis`);
      expect(data).toEqual(redis.data);
    };
    const everything: Values = {
      webhook: { autoscaling: { enabled: true }, timeoutSeconds: 3, replicas: 4, podLabels: { more: 'yes' } },
      controller: { replicas: 1 },
      global: { config: { scope: { namespaceSelector: { matchLabels: { team: 'web' } } } } },
    };
    const replicas = async () => {
      const { spec } = await cluster.api.get<{ spec: { replicas: number } }>(
        'Deployment',
        `${release.namespace}/spotalis-webhook`,
      );
      return spec.replicas;
    };
    await helm.upgrade(release, chartDir(), everything);
    await running(release.namespace, 'controller', 1);
    await isWhole();
    // The autoscaler's number from now on: neither an upgrade nor the way back may take webhooks away.
    expect(await replicas()).toBe(3);
    await cluster.api.scale('Deployment', `${release.namespace}/spotalis-webhook`, 5);
    await helm.upgrade(release, chartDir(), everything);
    expect(await replicas()).toBe(5);
    await helm.rollback(release);
    expect(await replicas()).toBe(3);
    await helm.rollback(release, 1);
    await running(release.namespace, 'controller', 2);
    await isWhole();

    await helm.uninstall(release);
    let left: string[] = [];
    await waitFor('nothing to be left', async () => {
      left = (await inventory()).filter((each) => !before.includes(each));
      return left.length === 0;
    }).catch(() => expect(left).toEqual([]));
  }, 120_000);

  it('brings back by an upgrade what somebody deleted', async () => {
    const release = { name: 'spotalis', namespace: 'tidied' };
    const deleted = [
      ['Lease', 'tidied/spotalis-controller'],
      ['Lease', 'tidied/spotalis-webhook-certificate'],
      ['Secret', 'tidied/spotalis-webhook-certificate'],
      ['MutatingWebhookConfiguration', 'spotalis.tidied'],
    ] as const;
    await namespace(release.namespace);
    await helm.install(release, chartDir());
    for (const [kind, name] of deleted) await cluster.api.delete(kind, name);
    await helm.upgrade(release, chartDir());
    const found = await Promise.all(deleted.map(([kind, name]) => cluster.api.find(kind, name)));
    expect(found.map((each) => each?.kind)).toEqual(deleted.map(([kind]) => kind));
    await helm.uninstall(release);
  }, 60_000);

  it('meets no other one in another namespace', async () => {
    const releases = ['blue', 'green'].map((name) => ({ name: 'spotalis', namespace: name }));
    for (const release of releases) {
      await namespace(release.namespace);
      await helm.install(release, chartDir());
    }
    const [blue, green] = releases as [(typeof releases)[0], (typeof releases)[0]];
    await helm.uninstall(blue);
    const wanted = await helm.template(green, chartDir());
    for (const { apiVersion, kind, metadata } of wanted) {
      const space = metadata?.namespace === undefined ? '' : `${metadata.namespace}/`;
      const found = await cluster.api.find(`${apiVersion}/${kind}`, `${space}${metadata?.name}`);
      expect({ kind, name: metadata?.name, found: found !== undefined }).toMatchObject({ found: true });
      expect(KINDS).toContain(kind);
    }
    await helm.uninstall(green);
  }, 60_000);

  it('has optional parts that the API server and the operators understand, to the last field', async () => {
    const release = { name: 'spotalis', namespace: 'optional' };
    await namespace(release.namespace);
    const found = await findDefinitions((line) => process.stderr.write(`${line}\n`));
    if ('missing' in found) throw new Error(found.missing);
    for (const text of found.texts) await cluster.api.apply(text);
    await waitFor('their kinds to be served', async () => {
      const kinds = ['Certificate', 'Issuer', 'PodMonitor', 'PrometheusRule', 'ServiceMonitor'];
      await Promise.all(kinds.map((kind) => cluster.api.list(kind)));
      return true;
    });
    for (const values of optional) {
      for (const object of await helm.template(release, chartDir(), values)) {
        const what = `${object.kind} ${object.metadata?.name}`;
        const warnings = await cluster.api
          .applyWarnings(object)
          .catch((error: unknown) => [error instanceof Error ? error.message : String(error)]);
        expect({ what, warnings }).toEqual({ what, warnings: [] });
      }
    }
  }, 60_000);
});
