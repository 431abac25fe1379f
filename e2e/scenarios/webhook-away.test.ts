import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { installationNamespace, type KubeObject, waitFor, webhookService } from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import { verdictOnAll, webhookSeen } from './moves.ts';
import { preloaded } from './preload.ts';
import { openStage, type Stage } from './stage.ts';
import type { Workload } from './workload.ts';

const registration = ['MutatingWebhookConfiguration', 'spotalis'] as const;

interface Registration extends KubeObject {
  readonly webhooks: readonly Readonly<Record<string, unknown>>[];
}

/** Names of Services lead to this machine. */
const servicesAreHere = `import dns from 'node:dns';
const { lookup } = dns;
dns.lookup = (host, ...rest) => lookup(host.endsWith('.svc') ? '127.0.0.1' : host, ...rest);`;

describe('many workloads that drift while admissions are not steered', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage({
      env: { controller: preloaded(servicesAreHere) },
      configuration: {
        rebalance: {
          cooldown: '1s',
          minPodAge: '1s',
          maxMovesPerMinute: 1_000,
          maxInFlight: { cluster: 20, namespace: 20, node: 20 },
        },
      },
    });
  }, 120_000);

  afterAll(async () => {
    await stage?.close();
  });

  /** All on on-demand, and then told to be on spot. */
  async function drifting(namespace: string, count: number): Promise<readonly Workload[]> {
    const policy = { spotPercentage: 0, minOnDemand: 0 };
    const names = Array.from({ length: count }, (_, index) => `web-${index}`);
    const workloads = await Promise.all(
      names.map((name) => stage.declare({ name, namespace, replicas: 2, policy })),
    );
    await Promise.all(workloads.map((workload) => workload.ready(2)));
    return workloads;
  }

  const toSpot = (workloads: readonly Workload[]) =>
    Promise.all(
      workloads.map((workload) =>
        workload.patch({ metadata: { annotations: { [policyKeys.spotPercentage]: '100' } } }),
      ),
    );

  async function reregister(change: (webhook: Registration['webhooks'][number]) => object) {
    const { webhooks } = await stage.cluster.api.get<Registration>(...registration);
    await stage.cluster.api.patch(...registration, { webhooks: webhooks.map(change) });
    return () => stage.cluster.api.patch(...registration, { webhooks });
  }

  it('are not moved with a wrong caBundle, and are when it is right again', async () => {
    const namespace = 'wrong-ca';
    const workloads = await drifting(namespace, 20);
    const restore = await reregister((webhook) => ({
      ...webhook,
      clientConfig: {
        ...(webhook['clientConfig'] as object),
        caBundle: Buffer.from(stage.cluster.ca).toString('base64'),
      },
    }));
    await toSpot(workloads);
    await verdictOnAll(stage, workloads, 'WebhookNotServing');
    expect(stage.evictions()).toBe(0);
    await restore();
    await waitFor(
      'every pod to be moved',
      async () => {
        const splits = await Promise.all(workloads.map((workload) => workload.split()));
        return splits.every(({ spot }) => spot === 2);
      },
      { timeoutMs: 100_000, intervalMs: 500 },
    );
    await verdictOnAll(stage, workloads, 'Balanced');
    expect(stage.evictions(namespace)).toBe(40);
  }, 200_000);

  it('are not moved behind a Service until it has somebody ready and is who it says', async () => {
    const { balancer } = stage.installation;
    const service = { namespace: installationNamespace, name: webhookService, port: balancer.port };
    const restore = await reregister(({ clientConfig, ...webhook }) => ({
      ...webhook,
      clientConfig: {
        caBundle: (clientConfig as { caBundle: string }).caBundle,
        service: { ...service, path: '/mutate' },
      },
    }));
    await webhookSeen(stage, /^notServing .* has no ready endpoint/);
    const slice = (name: string) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name,
        namespace: installationNamespace,
        labels: { 'kubernetes.io/service-name': name },
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
      ports: [{ port: balancer.port }],
    });
    await stage.cluster.api.apply(slice(webhookService));
    await webhookSeen(stage, /^serving/);
    await stage.cluster.api.apply(slice('other'));
    await reregister((webhook) => ({
      ...webhook,
      clientConfig: {
        ...(webhook['clientConfig'] as object),
        service: { ...service, name: 'other', path: '/mutate' },
      },
    }));
    await webhookSeen(stage, /^notServing .*altnames/);
    await restore();
    await webhookSeen(stage, /^serving/);
  }, 120_000);

  it('lose three pods at most, two hundred of them, while the webhook is away in one way or another', async () => {
    const namespace = 'away';
    const workloads = await drifting(namespace, 200);
    const { webhooks, balancer } = stage.installation;

    const restore = await reregister((webhook) => ({
      ...webhook,
      clientConfig: {
        ...(webhook['clientConfig'] as object),
        caBundle: Buffer.from(stage.cluster.ca).toString('base64'),
      },
    }));
    await webhookSeen(stage, /^notServing .*certificate/);
    await toSpot(workloads);
    await verdictOnAll(stage, workloads, 'WebhookNotServing');
    expect(stage.evictions(namespace)).toBe(0);

    await Promise.all(webhooks.map(({ component }) => component.kill('SIGTERM')));
    await restore();
    await webhookSeen(stage, /^notServing (?!.*certificate)/);
    await verdictOnAll(stage, workloads, 'WebhookNotServing');
    expect(stage.evictions(namespace)).toBe(0);

    // The leader reaches it, the API server does not.
    balancer.blockFrom(stage.cluster.pids['kube-apiserver'] ?? 0);
    await Promise.all(webhooks.map(({ component }) => component.start()));
    await waitFor('the first eviction', () => stage.evictions(namespace) > 0, { timeoutMs: 60_000 });
    await verdictOnAll(stage, workloads.slice(10), 'WebhookBypassed');
    expect(stage.evictions(namespace)).toBeLessThanOrEqual(3);
  }, 200_000);
});
