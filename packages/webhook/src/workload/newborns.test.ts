import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { connect, type Connection } from '../testing/connect.ts';
import { FakeApi, type FakeObject } from '../testing/fake-api.ts';
import { Newborns } from './newborns.ts';

const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd', controller: true };
let api: FakeApi;
let connection: Connection;
let newborns: Newborns;
let now: number;
let events: string[];

function replicaSet(name: string, more: Partial<FakeObject> = {}): FakeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'shop', ownerReferences: [deployment] },
    spec: { replicas: 5 },
    status: { replicas: 0 },
    ...more,
  };
}

/** As the API server told of it, once that came here. */
async function hear(object: FakeObject) {
  const { metadata } = api.put(object);
  const last = api.put(replicaSet('last'));
  await waitFor('the last event', () => find(last.metadata) !== undefined);
  api.remove(last);
  await waitFor('its end', () => find(last.metadata) === undefined);
  return find(metadata);
}

const find = ({ name, uid }: { name: string; uid: string }) =>
  newborns.find({ namespace: 'shop', name, uid });

beforeEach(async () => {
  api = new FakeApi();
  now = 0;
  events = [];
  connection = connect(await api.start());
  api.put(replicaSet('old'));
  newborns = new Newborns({
    client: connection.client,
    namespaces: [],
    isAbsent: () => false,
    observer: { event: (type) => events.push(type) },
    now: () => now,
  });
  await newborns.start();
  await waitFor('the watch', () => api.watches('replicasets') === 1);
});

afterEach(async () => {
  await newborns.stop();
  await connection.close();
  await api.stop();
});

describe('newborn ReplicaSets', () => {
  it('are those made from now on, with owner, size and age', async () => {
    expect(await hear(replicaSet('web-1'))).toMatchObject({
      replicas: { replicas: 5 },
      birth: { untouched: true },
      deployment: { uid: 'd', name: 'web' },
    });
    expect(find({ name: 'old', uid: 'uid-1' })).toBeUndefined();
  });

  it('are told from others of their name', async () => {
    await hear(replicaSet('web-1'));
    expect(find({ name: 'web-1', uid: 'another' })).toBeUndefined();
  });

  it('are none any more once their controller acted on them', async () => {
    const made = api.put(replicaSet('web-1'));
    expect(await hear({ ...made, status: { observedGeneration: 1, replicas: 0 } })).toBeUndefined();
    expect(find(made.metadata)).toBeUndefined();
    expect(newborns.size).toBe(0);
  });

  it('are all that is read of what is told of ReplicaSets', async () => {
    const made = api.put(replicaSet('web-1'));
    for (let replicas = 0; replicas < 5; replicas++) {
      api.put({ ...made, status: { observedGeneration: 1, replicas } });
      api.put({ ...replicaSet('old'), status: { observedGeneration: 1, replicas } });
    }
    await hear(replicaSet('web-2'));
    expect(events.filter((type) => type === 'MODIFIED')).toHaveLength(1);
  });

  it('are none without a Deployment', async () => {
    const metadata = { name: 'alone', namespace: 'shop' };
    expect(await hear(replicaSet('alone', { metadata }))).toBeUndefined();
  });

  it('are none for long, in case nothing more is heard', async () => {
    const { metadata } = api.put(replicaSet('web-1'));
    await waitFor('the event', () => find(metadata) !== undefined);
    now += 10_001;
    expect(find(metadata)).toBeUndefined();
  });
});
