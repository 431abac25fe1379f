import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RawMeta } from '@spotalis/kube';
import { MemoryLedger } from '@spotalis/ledger';
import { connect, type Connection } from '../../testing/connect.ts';
import { FakeApi } from '../../testing/fake-api.ts';
import { openShop, owner, type Shop } from '../../testing/shop.ts';
import { ApiReads } from './reads.ts';
import type { RevisionRef } from './revision.ts';

let api: FakeApi;
let connection: Connection;
let ledger: MemoryLedger;
let shop: Shop;
let ref: RevisionRef;
let reads: ApiReads;

beforeEach(async () => {
  api = new FakeApi();
  connection = connect(await api.start());
  ledger = new MemoryLedger({ now: Date.now });
  shop = openShop(api);
  const { metadata } = shop.replicaSet;
  ref = {
    workloadUid: shop.deployment.metadata.uid,
    replicaSetUid: metadata.uid,
    namespace: 'shop',
    name: metadata.name,
    podTemplateHash: '5d89',
  };
  reads = new ApiReads({
    client: connection.client,
    ledger,
    typeOfNode: async (name) => (name.startsWith('spot') ? 'spot' : undefined),
    deadlineMs: 2_000,
  });
});

afterEach(async () => {
  await connection.close();
  await api.stop();
});

function put(name: string, metadata: Partial<RawMeta> = {}, spec: object = {}): void {
  const labels = { 'pod-template-hash': '5d89' };
  const ownerReferences = [owner('ReplicaSet', shop.replicaSet)];
  api.put({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, uid: `uid-of-${name}`, namespace: 'shop', labels, ownerReferences, ...metadata },
    spec,
  });
}

const marked = (token: string, type: string, rank: string) => ({
  'spotalis.io/reservation': token,
  'spotalis.io/capacity-type': type,
  'spotalis.io/rank': rank,
});

/** With any resourceVersion a cache may answer; with 0 it may answer with anything. */
function isQuorumRead(query: URLSearchParams): boolean {
  return !query.has('resourceVersion') && !query.has('resourceVersionMatch');
}

describe('the pods of a revision', () => {
  it('are read from what they say of themselves', async () => {
    put('a', { annotations: marked('t-a', 'spot', '3') });
    put('b', { annotations: { ...marked('t-b', 'on-demand', '0'), 'spotalis.io/substitute': 'true' } });
    const { pods } = await reads.pods(ref);
    expect(pods).toEqual([
      expect.objectContaining({ token: 't-a', type: 'spot', rank: 3, substitute: false }),
      expect.objectContaining({ token: 't-b', type: 'on-demand', rank: 0, substitute: true }),
    ]);
    expect(api.count(/pods$/)).toBe(1);
  });

  it('are none when there are none', async () => {
    expect((await reads.pods(ref)).pods).toEqual([]);
  });

  it('leave out those on their way out and those of another ReplicaSet with the same hash', async () => {
    put('going', { annotations: marked('t', 'spot', '0'), deletionTimestamp: '2026-01-01T00:00:00Z' });
    put('foreign', {
      annotations: marked('t', 'spot', '0'),
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d89', uid: 'x', controller: true },
      ],
    });
    expect((await reads.pods(ref)).pods).toEqual([]);
  });

  it('are looked up in the ledger when they bear no mark', async () => {
    const known = { token: 'uid-of-a', type: 'on-demand', rank: 2, resourceVersion: '1' } as const;
    await ledger.seen(ref, known);
    put('a');
    expect((await reads.pods(ref)).pods).toEqual([expect.objectContaining({ token: 'uid-of-a', rank: 2 })]);
    expect(api.count(/pods$/)).toBe(1);
  });

  it('are of their node’s type when nobody knows them, and of none without a node', async () => {
    put('a', {}, { nodeName: 'spot-1' });
    put('b', {}, { nodeName: 'strange' });
    put('c');
    const { pods } = await reads.pods(ref);
    expect(pods).toEqual([
      expect.objectContaining({ token: 'uid-of-a', type: 'spot' }),
      expect.objectContaining({ token: 'uid-of-b', type: null }),
      expect.objectContaining({ token: 'uid-of-c', type: null }),
    ]);
  });

  it('are read whole by name where a few are unknown, and all together where many are', async () => {
    for (let index = 0; index < 60; index++)
      put(`known-${index}`, { annotations: marked(`t-${index}`, 'spot', `${index}`) });
    put('a', {}, { nodeName: 'spot-1' });
    put('b', {}, { nodeName: 'spot-1' });
    await reads.pods(ref);
    const byName = (query: URLSearchParams) => query.get('fieldSelector')?.startsWith('metadata.name=');
    expect(
      api
        .queries(/pods$/)
        .filter(byName)
        .map((query) => query.get('fieldSelector')),
    ).toEqual(['metadata.name=a', 'metadata.name=b']);
    for (let index = 0; index < 60; index++) put(`new-${index}`, {}, { nodeName: 'spot-1' });
    const { pods } = await reads.pods(ref);
    expect(pods.filter(({ type }) => type === 'spot')).toHaveLength(122);
    expect(api.queries(/pods$/).filter(byName)).toHaveLength(2);
  });

  it('are asked of the store behind the API server, never of a cache', async () => {
    put('a', {}, { nodeName: 'spot-1' });
    await reads.pods(ref);
    const queries = api.queries(/pods$/);
    // Their metadata, and then the whole of them.
    expect(queries).toHaveLength(2);
    expect(queries.filter(isQuorumRead)).toEqual(queries);
  });
});

describe('a ReplicaSet', () => {
  it('is read with its replicas, its version and whether it ever had pods', async () => {
    const { metadata } = shop.replicaSet;
    expect(await reads.replicaSet(ref)).toEqual({
      replicas: { replicas: 10, resourceVersion: metadata.resourceVersion },
      birth: { createdAtMs: Date.parse(metadata.creationTimestamp ?? ''), untouched: false },
      deployment: { uid: shop.deployment.metadata.uid, name: 'web' },
    });
  });

  it('is asked of the store behind the API server, never of a cache', async () => {
    await reads.replicaSet(ref);
    const queries = api.queries(/replicasets\/web/);
    expect(queries).toHaveLength(1);
    expect(queries.filter(isQuorumRead)).toEqual(queries);
  });

  it('is not taken for another one of the same name', async () => {
    expect(await reads.replicaSet({ ...ref, replicaSetUid: 'other' })).toBeUndefined();
  });
});
