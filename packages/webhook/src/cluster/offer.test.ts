import { getEventListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readCapacity } from '@spotalis/core';
import { createLogger, type Logger } from '@spotalis/runtime';
import { connect, type Connection } from '../testing/connect.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { OnDemandOffer } from './offer.ts';

const key = 'karpenter.sh/capacity-type';
const reading = readCapacity({
  nodeLabels: { spot: [`${key}=spot`], onDemand: [`${key}=on-demand`] },
  placement: {
    tolerations: [],
    nodeAffinity: { spot: [], onDemand: [] },
    assumeLabels: false,
    spreadSpotOverZones: false,
  },
});
if (!reading.ok) throw new Error('not read');
const { nodeLabels } = reading.value;
const logger = createLogger({ service: 'test', level: 'error', format: 'json' });

let api: FakeApi;
let connection: Connection;
let offer: OnDemandOffer | undefined;
let missing: readonly string[][];

beforeEach(async () => {
  api = new FakeApi();
  connection = connect(await api.start());
  missing = [];
});

afterEach(async () => {
  await offer?.stop();
  await connection.close();
  await api.stop();
});

async function start(assumed = false): Promise<OnDemandOffer> {
  offer = new OnDemandOffer({
    client: connection.client,
    nodeLabels,
    assumed,
    missing: (labels) => {
      missing = [...missing, [...labels]];
    },
    logger,
    periodMs: 10,
  });
  await offer.start({ signal: new AbortController().signal, fail: () => undefined });
  return offer;
}

const node = (name: string, type: string) =>
  ({ kind: 'Node', apiVersion: 'v1', metadata: { name, labels: { [key]: type } } }) as const;

async function seen(one: OnDemandOffer): Promise<void> {
  for (let attempt = 0; !one.seen && attempt < 500; attempt++) await pause(5);
  expect(one.seen).toBe(true);
}

describe('on-demand capacity', () => {
  it('is not offered by spot nodes, which is told once; and is by the first other', async () => {
    api.put(node('a', 'spot'));
    const one = await start();
    expect(one.seen).toBe(false);
    api.put(node('b', 'on-demand'));
    await seen(one);
    expect(missing).toEqual([[`${key}=on-demand`]]);
  });

  it('is offered by a NodePool that has made no node yet', async () => {
    api.put({ kind: 'NodePool', apiVersion: 'karpenter.sh/v1', metadata: { name: 'default' }, spec: {} });
    expect((await start()).seen).toBe(true);
    expect(missing).toEqual([]);
  });

  it('is looked for again when the API server has not answered', async () => {
    api.put(node('b', 'on-demand'));
    const mend = api.fail(/nodes/, 503);
    const started = start();
    for (let attempt = 0; api.count(/nodes/) === 0 && attempt < 500; attempt++) await pause(5);
    mend();
    expect((await started).seen).toBe(true);
  });

  it('is looked for again and again at no cost, and what keeps it from being seen is told once', async () => {
    let looks = 0;
    let stopping: AbortSignal | undefined;
    const told: string[] = [];
    const listening: Logger = { ...logger, warn: (message) => void told.push(message) };
    const client = {
      list(_of: unknown, _query: unknown, { signal }: { signal: AbortSignal }) {
        looks++;
        stopping = signal;
        return looks <= 2 ? Promise.resolve({ items: [] }) : Promise.reject(new Error('reset'));
      },
    };
    offer = new OnDemandOffer({
      client: client as never,
      nodeLabels,
      assumed: false,
      missing: () => undefined,
      logger: listening,
      periodMs: 1,
    });
    await offer.start({ signal: new AbortController().signal, fail: () => undefined });
    for (let attempt = 0; looks < 20 && attempt < 500; attempt++) await pause(5);
    expect(looks).toBeGreaterThanOrEqual(20);
    expect(getEventListeners(stopping!, 'abort').length).toBeLessThanOrEqual(1);
    expect(told.filter((message) => message.startsWith('cannot look'))).toHaveLength(1);
  });

  it('is taken for granted where it may not be looked for, or need not', async () => {
    api.fail(/nodes/, 403);
    expect((await start()).seen).toBe(true);
    expect((await start(true)).seen).toBe(true);
    expect(missing).toEqual([]);
  });
});
