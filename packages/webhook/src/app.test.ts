import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AddressInfo, connect, createServer } from 'node:net';
import request from 'supertest';
import { FakeApi } from './testing/fake-api.ts';
import { type RunningService, startService } from './testing/service.ts';
import { openShop, podOf, reviewOf, type Shop } from './testing/shop.ts';

interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patch?: string;
  readonly warnings?: readonly string[];
}

let api: FakeApi;
let apiUrl: string;
let service: RunningService | undefined;

beforeEach(async () => {
  api = new FakeApi();
  apiUrl = await api.start();
});

afterEach(async () => {
  await service?.stop();
  service = undefined;
  await api.stop();
});

async function start(environment: Readonly<Record<string, string>> = {}): Promise<RunningService> {
  service = await startService(apiUrl, environment);
  return service;
}

async function ask({ url, ca }: RunningService, review: object, query = '?timeout=2s'): Promise<Response> {
  const answer = await request(url).post(`/mutate${query}`).ca(ca).send(review);
  expect(answer.status).toBe(200);
  expect(answer.body.kind).toBe('AdmissionReview');
  expect(answer.body.response.allowed).toBe(true);
  return answer.body.response;
}

function typeOf({ patch }: Response): string | undefined {
  if (patch === undefined) return undefined;
  return /"spotalis.io\/capacity-type":"([a-z-]+)"/.exec(Buffer.from(patch, 'base64').toString())?.[1];
}

async function admit(running: RunningService, shop: Shop, count: number, prefix = 'pod'): Promise<string[]> {
  const types: string[] = [];
  for (let index = 0; index < count; index++) {
    types.push(typeOf(await ask(running, reviewOf(`${prefix}-${index}`, podOf(shop)))) ?? 'none');
  }
  return types;
}

const countSpot = (types: readonly string[]) => types.filter((type) => type === 'spot').length;

describe('the service', () => {
  it('leaves every pod alone and asks the API server for nothing while distribution is off', async () => {
    const shop = openShop(api);
    const running = await start({ SPOTALIS_MODULES_DISTRIBUTION_ENABLED: 'false' });
    expect(await admit(running, shop, 2)).toEqual(['none', 'none']);
    expect(api.count(/./)).toBe(0);
  });

  it('splits the pods of a Deployment as its policy says, one after another', async () => {
    const shop = openShop(api);
    const running = await start();
    const types = await admit(running, shop, 10);
    expect(types.slice(0, 4)).toEqual(['on-demand', 'spot', 'spot', 'spot']);
    expect(countSpot(types)).toBe(7);
    expect(api.count(/GET .*replicasets\/web/)).toBeLessThanOrEqual(2);
  });

  it('splits a burst exactly', async () => {
    const shop = openShop(api, { replicas: 100 });
    const running = await start();
    const burst = Array.from({ length: 100 }, (_, index) =>
      ask(running, reviewOf(`b-${index}`, podOf(shop))),
    );
    const types = (await Promise.all(burst)).map((response) => typeOf(response) ?? 'none');
    expect(countSpot(types)).toBe(70);
    expect(api.count(/GET .*\/pods/)).toBeLessThanOrEqual(2);
  });

  it('gives each revision its own share, whatever the other one has', async () => {
    const shop = openShop(api);
    const running = await start();
    const first = await admit(running, shop, 5, 'first');
    const { kind, apiVersion, metadata, spec, status } = shop.replicaSet;
    const { uid: _uid, ...anew } = { ...metadata, name: 'web-next' };
    const next = { ...shop, replicaSet: api.put({ kind, apiVersion, metadata: anew, spec, status }) };
    expect(await admit(running, next, 5, 'next')).toEqual(first);
  });

  it('gives the same call the same answer, and the reinvoked pod the place it has', async () => {
    const shop = openShop(api);
    const running = await start();
    const first = await ask(running, reviewOf('a', podOf(shop)));
    expect(await ask(running, reviewOf('a', podOf(shop)))).toEqual(first);
    const written = JSON.parse(Buffer.from(first.patch ?? '', 'base64').toString());
    const { value: annotations } = written.find(
      ({ path }: { path: string }) => path === '/metadata/annotations',
    );
    const { value: nodeSelector } = written.find(
      ({ path }: { path: string }) => path === '/spec/nodeSelector',
    );
    const again = podOf(shop, { metadata: { annotations }, spec: { nodeSelector } });
    expect(await ask(running, reviewOf('b', again))).toEqual({ uid: 'b', allowed: true });
  });

  it('leaves no trace of a dry run', async () => {
    const shop = openShop(api);
    const running = await start();
    for (let run = 0; run < 5; run++) {
      const dry = await ask(running, reviewOf(`dry-${run}`, podOf(shop), { dryRun: true }));
      expect(typeOf(dry)).toBe('on-demand');
    }
    expect(await admit(running, shop, 2)).toEqual(['on-demand', 'spot']);
  });

  it('finds a Deployment that its watch has not shown yet', async () => {
    const running = await start();
    api.deliverEvents = false;
    const shop = openShop(api);
    expect(await admit(running, shop, 3)).toEqual(['on-demand', 'spot', 'spot']);
    expect(api.count(/GET .*deployments\/web/)).toBe(1);
  });

  it('leaves pods alone whose workload did not opt in, and hears at once when it does', async () => {
    const shop = openShop(api, { labels: {} });
    const running = await start();
    expect(await admit(running, shop, 3)).toEqual(['none', 'none', 'none']);
    expect(api.count(/GET .*deployments\/web/)).toBe(1);
    const { deployment } = shop;
    api.put({
      ...deployment,
      metadata: { ...deployment.metadata, labels: { 'spotalis.io/enabled': 'true' } },
    });
    let type: string | undefined;
    for (let attempt = 0; type === undefined && attempt < 200; attempt++) {
      type = typeOf(await ask(running, reviewOf(`late-${attempt}`, podOf(shop))));
    }
    expect(type).toBe('on-demand');
  });

  it('sends pods of an invalid policy to on-demand and says why', async () => {
    const shop = openShop(api, { annotations: { 'spotalis.io/spot-percentage': 'most' } });
    const running = await start();
    const response = await ask(running, reviewOf('a', podOf(shop)));
    expect(typeOf(response)).toBe('on-demand');
    expect(response.warnings?.[0]).toContain('spotalis.io/spot-percentage');
  });

  it('leaves a pod alone whose own affinity allows neither type, with a warning', async () => {
    const shop = openShop(api);
    const running = await start();
    const expression = { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['reserved'] };
    const required = { nodeSelectorTerms: [{ matchExpressions: [expression] }] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    const response = await ask(running, reviewOf('a', podOf(shop, { spec: { affinity } })));
    expect(response.patch).toBeUndefined();
    expect(response.warnings).toHaveLength(1);
  });

  it('keeps a deletion cost of the user’s own, and says what that means', async () => {
    const shop = openShop(api);
    const running = await start();
    const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '500' };
    const response = await ask(running, reviewOf('a', podOf(shop, { metadata: { annotations } })));
    expect(typeOf(response)).toBeUndefined();
    const patch = Buffer.from(response.patch ?? '', 'base64').toString();
    expect(patch).toContain('spotalis.io~1reservation');
    expect(patch).not.toContain('deletion-cost');
    expect(response.warnings?.[0]).toContain('500');
  });

  it('leaves pods alone as long as no node carries the label they would be sent to', async () => {
    const shop = openShop(api);
    const running = await start({ SPOTALIS_PLACEMENT_ASSUME_LABELS: 'false' });
    expect(await admit(running, shop, 3)).toEqual(['none', 'none', 'none']);
    expect(running.log.map(({ message }) => message)).toContain(
      'no node or NodePool offers on-demand; no pod is steered',
    );
  });

  it('writes nothing in read-only mode', async () => {
    const shop = openShop(api);
    const running = await start({ SPOTALIS_READ_ONLY_MODE: 'true' });
    expect(await admit(running, shop, 3)).toEqual(['none', 'none', 'none']);
    const told = running.log.filter(({ decision }) => decision !== undefined);
    expect(told).toHaveLength(3);
    for (const line of told) expect(line).toMatchObject({ message: 'would be placed', readOnly: true });
  });

  it('decides alone while there is no Redis, within one of the target, floor first', async () => {
    const shop = openShop(api);
    const running = await start({ SPOTALIS_REDIS_URL: 'redis://127.0.0.1:1' });
    const types = await admit(running, shop, 10);
    expect(types[0]).toBe('on-demand');
    expect(Math.abs(countSpot(types) - 7)).toBeLessThanOrEqual(1);
  });

  it('answers in its time though neither Redis nor the API server ever does', async () => {
    const silent = createServer().unref();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const shop = openShop(api);
    const running = await start({
      SPOTALIS_REDIS_URL: `redis://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      SPOTALIS_WEBHOOK_DECISION_TIMEOUT: '1s',
    });
    const longestMs = async (prefix: string): Promise<number> => {
      const release = api.hold(/GET/);
      const began = performance.now();
      const burst = Array.from({ length: 20 }, (_, index) => reviewOf(`${prefix}-${index}`, podOf(shop)));
      await Promise.all(burst.map((review) => ask(running, review, '?timeout=30s')));
      release();
      return performance.now() - began;
    };
    // Its own time is a second, the API server's half a minute: in between is room for a machine that is busy.
    const ownMs = 15_000;
    // Its ReplicaSet is unknown at first, later only whether its pods are the same.
    expect(await longestMs('unknown')).toBeLessThan(ownMs);
    await admit(running, shop, 1, 'known');
    expect(await longestMs('known')).toBeLessThan(ownMs);
    silent.close();
  });

  it('rehearses before it serves, and counts, logs and reads nothing for it', async () => {
    const running = await start({ SPOTALIS_WEBHOOK_REHEARSAL: '30' });
    const { log } = running;
    const rehearsed = log.findIndex(({ message }) => message === 'rehearsed');
    expect(rehearsed).toBeGreaterThan(0);
    expect(rehearsed).toBeLessThan(log.findIndex(({ server }) => server === 'admissions'));
    expect(log.map(({ message }) => message)).not.toContain('placed');
    expect(api.count(/GET .*(rehears|replicasets\/|pods)/)).toBe(0);
    const shop = openShop(api);
    expect(countSpot(await admit(running, shop, 10))).toBe(7);
  });

  it.each([
    ['nodeLabels', { SPOTALIS_NODE_LABELS_SPOT: 'a=b', SPOTALIS_NODE_LABELS_ON_DEMAND: 'a=b' }],
    ['webhook.certs.namespace', { SPOTALIS_WEBHOOK_CERTS_MODE: 'auto' }],
    ['rebalance.schedule', { SPOTALIS_REBALANCE_SCHEDULE: '0 22 * *', SPOTALIS_REBALANCE_DURATION: '4h' }],
  ])('refuses values of %s before it connects to Redis', async (key, environment) => {
    let accepted = 0;
    const redis = createServer((socket) => {
      accepted++;
      socket.end().on('error', () => undefined);
    });
    await new Promise<void>((resolve) => redis.listen(0, '127.0.0.1', resolve));
    const { port } = redis.address() as AddressInfo;
    const url = `redis://127.0.0.1:${port}`;
    await expect(start({ SPOTALIS_REDIS_URL: url, ...environment })).rejects.toThrow(key);
    // ioredis connects some turns of the event loop later: by the end of these it would have.
    const rounds = 5;
    for (let round = 0; round < rounds; round++) {
      const mine = connect(port, '127.0.0.1').resume();
      await new Promise((resolve) => mine.once('close', resolve));
    }
    redis.close();
    expect(accepted).toBe(rounds);
  });

  it('logs one line for each decision', async () => {
    const shop = openShop(api);
    const running = await start();
    await admit(running, shop, 2);
    expect(running.log.filter(({ message }) => message === 'placed')).toEqual([
      expect.objectContaining({ requestId: 'pod-0', workload: 'deployment/shop/web', decision: 'on-demand' }),
      expect.objectContaining({
        requestId: 'pod-1',
        decision: 'spot',
        reason: 'ledger',
        spot: 1,
        onDemand: 1,
      }),
    ]);
  });
});
