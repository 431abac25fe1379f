import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { targetSpot } from '@spotalis/core';
import request from 'supertest';
import { FakeApi } from '../testing/fake-api.ts';
import { type RunningService, startService } from '../testing/service.ts';
import { openShop, owner, podOf, reviewOf, type Shop } from '../testing/shop.ts';

let api: FakeApi;
let shop: Shop;
let service: RunningService;

beforeEach(async () => {
  api = new FakeApi();
  const url = await api.start();
  shop = openShop(api, { replicas: 100 });
  service = await startService(url);
});

afterEach(async () => {
  await service.stop();
  await api.stop();
});

/** Admits a pod and lets it be, as the API server would. */
async function create(name: string): Promise<string> {
  const answer = await request(service.url)
    .post('/mutate?timeout=2s')
    .ca(service.ca)
    .send(reviewOf(name, podOf(shop)));
  const patch = JSON.parse(Buffer.from(answer.body.response.patch, 'base64').toString());
  const { value: annotations } = patch.find(({ path }: { path: string }) => path === '/metadata/annotations');
  put(name, annotations);
  return annotations['spotalis.io/capacity-type'];
}

function put(name: string, annotations: Readonly<Record<string, string>>, change: object = {}, spec = {}) {
  const labels = { 'pod-template-hash': '5d89' };
  const ownerReferences = [owner('ReplicaSet', shop.replicaSet)];
  const metadata = { name, uid: `uid-${name}`, namespace: 'shop', labels, ownerReferences, annotations };
  return api.put({ kind: 'Pod', apiVersion: 'v1', metadata: { ...metadata, ...change }, spec });
}

/** A dry run leaves no trace, so it can be asked until the event has come. */
async function isOnDemandNext(): Promise<boolean> {
  const answer = await request(service.url)
    .post('/mutate?timeout=2s')
    .ca(service.ca)
    .send(reviewOf('probe', podOf(shop), { dryRun: true }));
  const patch = Buffer.from(answer.body.response.patch, 'base64').toString();
  return patch.includes('"spotalis.io/capacity-type":"on-demand"');
}

const lists = () => api.count(/GET .*\/pods$/);

describe('the webhook with its own ledger', () => {
  it('sees its pods, so that it looks for none of them later', async () => {
    const types = [];
    for (let index = 0; index < 10; index++) types.push(await create(`pod-${index}`));
    expect(types.filter((type) => type === 'spot')).toHaveLength(
      targetSpot({ spotPercentage: 70, minOnDemand: 1 }, 10),
    );
    expect(lists()).toBe(1);
  });

  it.each(['is deleted', 'is terminating'])('gives the place of a pod that %s to the next', async (how) => {
    const types = [];
    for (let index = 0; index < 4; index++) types.push(await create(`pod-${index}`));
    // On-demand, spot, spot, spot: without its one on-demand pod the floor is open again.
    expect(types).toEqual(['on-demand', 'spot', 'spot', 'spot']);
    const pod = put('pod-0', {
      'spotalis.io/reservation': 'pod-0',
      'spotalis.io/capacity-type': 'on-demand',
    });
    if (how === 'is terminating') {
      api.put({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
    } else {
      api.remove(pod);
    }
    const seen = await waitFor('the release to be seen', isOnDemandNext, { timeoutMs: 3_000 });
    expect(seen).toBe(true);
    expect(lists()).toBeGreaterThan(1);
  });

  it('believes a type that it did not write itself no more than others do: the node says it', async () => {
    const labels = { 'karpenter.sh/capacity-type': 'spot' };
    api.put({ kind: 'Node', apiVersion: 'v1', metadata: { name: 'spot-1', labels } });
    for (let index = 0; index < 4; index++) await create(`pod-${index}`);
    // One on-demand, three spot. With two more on spot it is the floor's turn; with two on-demand it is not.
    for (const name of ['by-hand-1', 'by-hand-2']) {
      const copied = { 'spotalis.io/capacity-type': 'on-demand' };
      put(name, copied);
      put(name, copied, {}, { nodeName: 'spot-1' });
    }
    expect(await waitFor('both to be seen', isOnDemandNext, { timeoutMs: 3_000 })).toBe(true);
    expect(lists()).toBe(1);
  });
});
