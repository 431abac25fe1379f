import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KubeObject, waitFor } from '@spotalis/cluster';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import type { Workload } from '../workloads/workload.ts';

/** A new certificate every seven seconds or so: from two thirds of its life on, and settled by a tenth of it. */
const certificateLifetime = '20s';
const place = 'spotalis-system/spotalis-webhook-certificate';
const policy = { spotPercentage: 70, minOnDemand: 2 };

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Registration extends KubeObject {
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}

/** Pods that come to be one after the other without a pause, as long as `until` has not resolved. */
async function streamOf(testbed: Testbed, workload: Workload, until: Promise<unknown>): Promise<number> {
  let over = false;
  const end = until.finally(() => {
    over = true;
  });
  let replicas = 2;
  while (!over) {
    replicas += 2;
    await workload.scale(replicas);
    await workload.splitWhenCreated(replicas);
    await everyReplicaIsVerified(testbed);
  }
  await end;
  return replicas;
}

const decoded = (text = ''): string => Buffer.from(text, 'base64').toString();

async function bundle(testbed: Testbed): Promise<string> {
  const { webhooks } = await testbed.cluster.api.get<Registration>(
    'MutatingWebhookConfiguration',
    'spotalis',
  );
  return decoded(webhooks[0]?.clientConfig.caBundle);
}

async function served(testbed: Testbed): Promise<string> {
  const { data } = await testbed.cluster.api.get<Secret>('Secret', place);
  return decoded(data?.['tls.crt']);
}

/** By what is registered at this moment, as the API server would on a new connection. */
async function everyReplicaIsVerified(testbed: Testbed): Promise<void> {
  const ca = await bundle(testbed);
  await Promise.all(testbed.installation.webhooks.map(({ port }) => handshake(port, ca)));
}

function handshake(port: number, ca: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' }, () => {
      socket.end();
      resolve();
    });
    socket.once('error', reject);
  });
}

/** Resolves when that many other certificates have been served, one after the other. */
async function rotations(testbed: Testbed, count: number): Promise<void> {
  const seen = new Set([await served(testbed)]);
  await waitFor(
    `${count} new certificates`,
    async () => {
      const cert = await served(testbed);
      if (cert !== '') seen.add(cert);
      return seen.size > count;
    },
    { timeoutMs: 60_000, intervalMs: 100 },
  );
}

describe('certificates that three webhooks make for themselves', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({ certificateLifetime, proxied: true });
    await waitFor('the registration to be filled in', async () => (await bundle(testbed)) !== '');
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  async function expectNothingLost(namespace: string, workload: Workload, replicas: number): Promise<void> {
    const { refused, bypassed } = testbed.creations(namespace);
    expect({ refused, bypassed }).toEqual({ refused: 0, bypassed: 0 });
    expect(await workload.splitWhenCreated(replicas)).toEqual(workload.exactly(replicas));
  }

  it('are renewed three times without a failed admission', async () => {
    const workload = await testbed.declare({ name: 'web', namespace: 'renewed', replicas: 2, policy });
    const replicas = await streamOf(testbed, workload, rotations(testbed, 3));
    expect(replicas).toBeGreaterThan(20);
    await expectNothingLost('renewed', workload, replicas);
  }, 90_000);

  it('are replaced when the Secret is emptied or spoilt, without a failed admission', async () => {
    const workload = await testbed.declare({ name: 'web', namespace: 'emptied', replicas: 2, policy });
    const spoil = async () => {
      for (const data of [null, { 'tls.crt': 'bm8=', 'tls.key': 'bm8=', 'ca.crt': 'bm8=' }]) {
        const before = await served(testbed);
        await testbed.cluster.api.patch('Secret', place, { data });
        await waitFor('another certificate', async () => {
          const cert = await served(testbed);
          return cert !== before && cert.includes('BEGIN CERTIFICATE');
        });
      }
    };
    const replicas = await streamOf(testbed, workload, spoil());
    await expectNothingLost('emptied', workload, replicas);
  }, 60_000);

  it('are verified again soon after somebody reset the registration', async () => {
    const before = await bundle(testbed);
    const operations = [{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }];
    await testbed.cluster.api.raw(
      'PATCH',
      '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/spotalis',
      { body: operations, contentType: 'application/json-patch+json' },
    );
    await waitFor('the registration to be mended', async () => (await bundle(testbed)) !== '', {
      timeoutMs: 5_000,
    });
    expect(before).not.toBe('');
    await everyReplicaIsVerified(testbed);
  }, 30_000);

  it('outlive the replica that renews them', async () => {
    interface Lease extends KubeObject {
      readonly spec?: { readonly holderIdentity?: string };
    }
    const holder = async () =>
      (await testbed.cluster.api.get<Lease>('Lease', place)).spec?.holderIdentity ?? '';
    const before = await holder();
    expect(before).not.toBe('');
    const { webhooks } = testbed.installation;
    for (const { component } of webhooks) {
      await component.kill('SIGKILL');
      await component.start();
    }
    await waitFor('another holder', async () => (await holder()) !== before, { timeoutMs: 15_000 });
    await rotations(testbed, 1);
    await everyReplicaIsVerified(testbed);
  }, 150_000);

  it('are waited for while the API server is away at the start', async () => {
    const [first] = testbed.installation.webhooks;
    await first!.component.kill('SIGTERM');
    testbed.proxy.refuse();
    const started = first!.component.start();
    await waitFor('the webhook to miss the API server', () =>
      first!.component.log().includes('the certificate cannot be looked after'),
    );
    testbed.proxy.resume();
    await started;
    await everyReplicaIsVerified(testbed);
  }, 60_000);
});
