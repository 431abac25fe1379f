/** @needs control-plane helm cert-manager */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  chartDir,
  type Cluster,
  Helm,
  type KubeObject,
  startCertManager,
  startCluster,
  waitFor,
} from '@spotalis/cluster';

const release = { name: 'spotalis', namespace: 'spotalis-system' };
const secretPath = `${release.namespace}/spotalis-webhook-certificate`;
const values = {
  global: { config: { webhook: { certs: { mode: 'cert-manager' } }, redis: { url: 'memory://' } } },
  redis: { enabled: false },
  webhook: { replicas: 1 },
};

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Registration extends KubeObject {
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}

const decoded = (text = '') => Buffer.from(text, 'base64').toString();

describe('the chart, where cert-manager makes the certificates', () => {
  let cluster: Cluster;
  let helm: Helm;

  beforeAll(async () => {
    cluster = await startCluster({ spotNodes: 0, onDemandNodes: 2 });
    helm = await Helm.prepare({ kubeconfig: cluster.kubeconfig });
    await startCertManager(cluster);
    await helm.install(release, chartDir(), values);
  }, 120_000);

  afterAll(async () => {
    helm?.dispose();
    await cluster?.stop();
  });

  /** What the webhooks serve, once the API server is told to trust it. */
  async function trusted({ other = '' } = {}): Promise<string> {
    let served = '';
    await waitFor(
      'the API server to trust what the webhooks serve',
      async () => {
        const secret = await cluster.api.find<Secret>('Secret', secretPath);
        served = decoded(secret?.data?.['tls.crt']);
        const path = `spotalis.${release.namespace}`;
        const { webhooks } = await cluster.api.get<Registration>('MutatingWebhookConfiguration', path);
        const bundle = decoded(webhooks[0]?.clientConfig.caBundle);
        // Beside the ones before it, which cert-manager leaves in the bundle.
        const authority = decoded(secret?.data?.['ca.crt']);
        return served !== '' && served !== other && authority !== '' && bundle.includes(authority);
      },
      { timeoutMs: 60_000 },
    );
    return served;
  }

  it('gets one for the name of its Service, which the API server trusts', async () => {
    const certificate = new X509Certificate(await trusted());
    expect(certificate.checkHost(`spotalis-webhook.${release.namespace}.svc`)).toBeDefined();
    const secret = await cluster.api.get<Secret>('Secret', secretPath);
    const authority = new X509Certificate(decoded(secret.data?.['ca.crt']));
    expect(certificate.verify(authority.publicKey)).toBe(true);
  }, 90_000);

  it('gets another when that is gone, and the API server trusts it then', async () => {
    const before = await trusted();
    await cluster.api.delete('Secret', secretPath);
    expect(await trusted({ other: before })).not.toBe(before);
  }, 90_000);
});
