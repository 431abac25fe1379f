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

function put(name: string, annotations: Readonly<Record<string, string>>, change: object = {}) {
  const labels = { 'pod-template-hash': '5d89' };
  const ownerReferences = [owner('ReplicaSet', shop.replicaSet)];
  const metadata = { name, uid: `uid-${name}`, namespace: 'shop', labels, ownerReferences, annotations };
  return api.put({ kind: 'Pod', apiVersion: 'v1', metadata: { ...metadata, ...change } });
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
});
