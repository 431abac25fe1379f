/** @needs control-plane */
import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, startCluster, startProxy, waitFor } from '@spotalis/cluster';
import { Credentials } from './configuration/credentials.ts';
import { EventRecorder } from './events/recorder.ts';
import { evict, type EvictionOutcome } from './eviction.ts';
import type { RawObject } from './object.ts';
import { resource } from './resource.ts';
import { clientOf, credentialsOf, ready } from './testing/real-client.ts';
import { ApiClient } from './transport/client.ts';
import { Transport } from './transport/transport.ts';

interface ConfigMap extends RawObject {
  readonly data?: Readonly<Record<string, string>>;
}

const pods = resource('v1', 'pods', 'Pod');
const configMaps = resource<ConfigMap>('v1', 'configmaps', 'ConfigMap');
const budgets = resource('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget');
const place = { namespace: 'default' };

let cluster: Cluster;
let client: ApiClient;

beforeAll(async () => {
  cluster = await startCluster({ spotNodes: 1, onDemandNodes: 0, audit: true });
  client = clientOf(cluster);
}, 120_000);

afterAll(async () => {
  await client?.transport.close();
  await cluster?.stop();
}, 30_000);

describe('connections', () => {
  it('are few for 1,000 calls, counted on the line', async () => {
    const proxy = await startProxy(Number(new URL(cluster.server).port));
    const proxied = clientOf(cluster, { port: proxy.port });
    const startedMs = performance.now();
    await Promise.all(
      Array.from({ length: 1_000 }, () =>
        proxied.get(pods, { ...place, name: 'nobody' }).catch(() => undefined),
      ),
    );
    const concurrentMs = performance.now() - startedMs;
    for (let i = 0; i < 100; i++) {
      await proxied.list(pods, { ...place, limit: 1 });
    }
    process.stdout.write(
      `1,000 calls at once: ${proxy.totalConnections} TLS connections, ${(concurrentMs / 1_000).toFixed(2)} ms a call\n`,
    );
    expect(proxy.totalConnections).toBeLessThanOrEqual(8);
    await proxied.transport.close();
    await proxy.close();
  });

  it('that are partitioned end in a DeadlineError, and calls work again once the line does', async () => {
    const proxy = await startProxy(Number(new URL(cluster.server).port));
    const proxied = clientOf(cluster, { port: proxy.port });
    await proxied.list(pods, { limit: 1 });
    proxy.block();
    const call = proxied.get(pods, { ...place, name: 'nobody' }, { once: true, deadlineMs: 300 });
    await expect(call).rejects.toMatchObject({ code: 'KUBE_DEADLINE' });
    proxy.cut();
    proxy.resume();
    await expect(proxied.list(pods, { limit: 1 })).resolves.toHaveProperty('resourceVersion');
    await proxied.transport.close();
    await proxy.close();
  });
});

describe('a ServiceAccount token that has expired', () => {
  it('is read again at once when the server rejects it, and the call succeeds', async () => {
    const fresh = await cluster.serviceAccountToken('default', 'default');
    const expired = expire(fresh, join(cluster.stateDir, 'credentials', 'service-accounts.key'));
    const tokenFile = join(cluster.stateDir, 'token');
    const kubeconfig = join(cluster.stateDir, 'token.kubeconfig');
    writeFileSync(tokenFile, expired);
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        clusters: [
          { name: 'c', cluster: { server: cluster.server, 'certificate-authority-data': btoa(cluster.ca) } },
        ],
        users: [{ name: 'u', user: { tokenFile } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    );
    const transport = new Transport({
      credentials: new Credentials({ path: kubeconfig }),
      userAgent: 'token-test',
    });
    const version = { verb: 'GET', path: '/api' } as const;
    await expect(transport.call(version, { deadlineMs: 5_000 })).rejects.toMatchObject({
      status: 401,
      reason: 'Unauthorized',
    });
    writeFileSync(tokenFile, fresh);
    await waitFor(
      'the new token to be in use',
      async () => {
        await transport.call(version, { deadlineMs: 5_000 });
        return true;
      },
      { timeoutMs: 2_000 },
    );
    await transport.close();
    rmSync(tokenFile);
  });
});

describe('verbs', () => {
  it('create, patch, apply, read in pages and delete without touching what others wrote', async () => {
    const name = 'verbs';
    await client.create(configMaps, place, { metadata: { name }, data: { a: '1' } });
    await client.apply(
      configMaps,
      { ...place, name },
      { metadata: { name }, data: { b: '2' } },
      { fieldManager: 'applier' },
    );
    await client.mergePatch(configMaps, { ...place, name }, { data: { c: '3' } });
    const patched = await client.jsonPatch(configMaps, { ...place, name }, [
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'remove', path: '/data/a' },
    ]);
    expect(patched.data).toEqual({ b: '2', c: '3' });
    await expect(
      client.apply(
        configMaps,
        { ...place, name },
        { metadata: { name }, data: { c: 'x' } },
        { fieldManager: 'other' },
      ),
    ).rejects.toMatchObject({
      status: 409,
      reason: 'Conflict',
      causes: [{ reason: 'FieldManagerConflict' }],
    });
    const dry = await client.mergePatch(
      configMaps,
      { ...place, name },
      { data: { d: '4' } },
      { dryRun: true },
    );
    expect(dry.data).toHaveProperty('d');
    const read = await client.get(configMaps, { ...place, name }, { view: 'metadata' });
    expect(read).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name } });
    expect(read.data).toBeUndefined();
    await expect(client.delete(configMaps, { ...place, name }, { uid: 'another' })).rejects.toMatchObject({
      status: 409,
    });
    await client.delete(configMaps, { ...place, name }, { uid: read.metadata.uid });
    await expect(client.get(configMaps, { ...place, name })).rejects.toMatchObject({ status: 404 });
  });

  it('read a list page by page, with selectors and as metadata', async () => {
    await Promise.all(
      Array.from({ length: 7 }, (_, i) =>
        client.create(configMaps, place, {
          metadata: { name: `page-${i}`, labels: { set: 'pages' } },
          data: { i: '0' },
        }),
      ),
    );
    const sizes: number[] = [];
    const names: string[] = [];
    const query = { ...place, labelSelector: 'set=pages', limit: 3, view: 'metadata' } as const;
    for await (const page of client.pages(configMaps, query)) {
      sizes.push(page.items.length);
      names.push(...page.items.map((one) => one.metadata.name));
      expect(page.items.every((one) => one.data === undefined)).toBe(true);
    }
    expect(sizes).toEqual([3, 3, 1]);
    expect(names).toEqual(Array.from({ length: 7 }, (_, i) => `page-${i}`));
  });
});

function outcome(name: string, uid: string, resourceVersion?: string): Promise<EvictionOutcome> {
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  return evict(client, { ...place, name, uid, ...version }, { deadlineMs: 5_000 });
}

async function pod(name: string): Promise<RawObject> {
  const created = await client.create(pods, place, {
    metadata: { name, labels: { app: name } },
    spec: { containers: [{ name: 'main', image: 'pause' }], terminationGracePeriodSeconds: 0 },
  });
  await ready(cluster, name);
  return created;
}

async function budget(name: string, app: string): Promise<void> {
  await client.create(budgets, place, {
    metadata: { name },
    spec: { minAvailable: 1, selector: { matchLabels: { app } } },
  });
  await waitFor(`the controller to see budget ${name}`, async () => {
    const { status } = await cluster.api.get<{ status: { currentHealthy?: number } }>(
      'PodDisruptionBudget',
      name,
    );
    return status.currentHealthy === 1;
  });
}

describe('an eviction', () => {
  it('of a free pod is done, and of one that is gone is success too', async () => {
    const { metadata } = await pod('free');
    expect(await outcome('free', metadata.uid)).toEqual({ kind: 'evicted' });
    await waitFor('the pod to go', async () => (await cluster.api.find('Pod', 'free')) === undefined);
    expect(await outcome('free', metadata.uid)).toEqual({ kind: 'gone' });
  });

  it('of a pod that was replaced under the same name is success, and the new pod stays', async () => {
    const { metadata } = await pod('replaced');
    expect(await outcome('replaced', 'an-older-uid')).toEqual({ kind: 'gone' });
    const after = await client.get(pods, { ...place, name: 'replaced' });
    expect(after.metadata.uid).toBe(metadata.uid);
    expect(after.metadata.deletionTimestamp).toBeUndefined();
  });

  it('of a pod that has changed since it was read is a conflict', async () => {
    const { metadata } = await pod('changed');
    expect(await outcome('changed', metadata.uid, metadata.resourceVersion)).toMatchObject({
      kind: 'conflict',
    });
    const { metadata: now } = await client.get(pods, { ...place, name: 'changed' });
    expect(await outcome('changed', now.uid, now.resourceVersion)).toEqual({ kind: 'evicted' });
  });

  it('that a budget forbids is blocked; with two budgets it says so', async () => {
    const { metadata } = await pod('guarded');
    await budget('one', 'guarded');
    const blocked = await outcome('guarded', metadata.uid);
    expect(blocked).toMatchObject({ kind: 'blocked', message: expect.stringContaining('disruption budget') });
    await budget('two', 'guarded');
    expect(await outcome('guarded', metadata.uid)).toMatchObject({ kind: 'tooManyBudgets' });
  });

  it('without the right is forbidden', async () => {
    const credentials = new Credentials({ path: await cluster.kubeconfigFor('default', 'default') });
    const powerless = new ApiClient(new Transport({ credentials, userAgent: 'powerless' }));
    const eviction = { ...place, name: 'guarded', uid: 'any' };
    expect(await evict(powerless, eviction, { deadlineMs: 5_000 })).toMatchObject({ kind: 'forbidden' });
    await powerless.transport.close();
  });

  it('as a dry run changes nothing', async () => {
    const { metadata } = await pod('dry');
    const dry = { ...place, name: 'dry', uid: metadata.uid, dryRun: true };
    expect(await evict(client, dry, { deadlineMs: 5_000 })).toEqual({ kind: 'evicted' });
    const after = await client.get(pods, { ...place, name: 'dry' });
    expect(after.metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('an Event', () => {
  it('and its series are accepted, as one object', async () => {
    const dropped: string[] = [];
    const recorder = new EventRecorder({
      client,
      controller: 'example.com/test',
      instance: 'test-0',
      onDropped: (why, _event, error) => dropped.push(`${why} ${error?.message ?? ''}`),
    });
    const event = {
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'guarded' },
      type: 'Warning',
      reason: 'Blocked',
      action: 'Move',
      note: 'a budget forbids it',
    } as const;
    recorder.record(event);
    await recorder.stop(5_000);
    for (let i = 0; i < 9; i++) {
      recorder.record(event);
    }
    await recorder.stop(5_000);
    expect(dropped).toEqual([]);
    const all = await cluster.api.list<{ reason: string; series?: { count: number }; note: string }>(
      'events.k8s.io/v1/Event',
    );
    const ours = all.filter((one) => one.reason === 'Blocked');
    expect(ours).toEqual([
      expect.objectContaining({
        note: 'a budget forbids it',
        series: expect.objectContaining({ count: 10 }),
      }),
    ]);
  });
});

describe('credentials of the cluster', () => {
  it('have client certificates in their kubeconfig', async () => {
    const { tls } = await credentialsOf(cluster).current();
    expect(tls.cert).toContain('BEGIN CERTIFICATE');
  });
});

/** The same token two minutes after its end, with the cluster's own signature. */
function expire(token: string, keyFile: string): string {
  const [header = '', payload = ''] = token.split('.');
  const claims: Record<string, unknown> = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const old = { ...claims, iat: nowSeconds - 3_720, nbf: nowSeconds - 3_720, exp: nowSeconds - 120 };
  const content = `${header}.${Buffer.from(JSON.stringify(old)).toString('base64url')}`;
  const key = createPrivateKey(readFileSync(keyFile));
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
  return `${content}.${signature.toString('base64url')}`;
}
