import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KubeObject, waitFor } from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import { verdictOn } from './moves.ts';
import { openStage, type Stage } from './stage.ts';
import type { Workload } from './workload.ts';

const registration = ['MutatingWebhookConfiguration', 'spotalis'] as const;

interface Registration extends KubeObject {
  readonly webhooks: readonly Readonly<Record<string, unknown>>[];
}

describe('many workloads that drift while admissions are not steered', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage({
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
    for (const workload of workloads) await verdictOn(stage, workload, 'WebhookNotServing');
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
    for (const workload of workloads) await verdictOn(stage, workload, 'Balanced');
    expect(stage.evictions(namespace)).toBe(40);
  }, 200_000);

  it('lose three pods at most when the API server does not ask the webhook', async () => {
    const namespace = 'bypassed';
    const workloads = await drifting(namespace, 30);
    const nobody = { matchLabels: { 'spotalis.test/nobody': 'true' } };
    await reregister((webhook) => ({ ...webhook, namespaceSelector: nobody }));
    await toSpot(workloads);
    const untouched = workloads.at(-1);
    if (untouched !== undefined) await verdictOn(stage, untouched, 'WebhookBypassed');
    expect(stage.evictions(namespace)).toBeLessThanOrEqual(3);
  }, 120_000);
});
