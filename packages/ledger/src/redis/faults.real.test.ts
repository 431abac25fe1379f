/** @needs redis @also redis-8.0 valkey-8.1 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type RedisServers, startProxy, startRedis, waitFor } from '@spotalis/cluster';
import type { Redis } from 'ioredis';
import { LedgerUnavailable } from '../errors.ts';
import type { LedgerOperation } from '../ledger.ts';
import { admin, age, newPrefix, ready, readyLedger, stopAll } from '../testing/redis.ts';
import { markOf, newRevision, place, pod, request, seed, verified } from '../testing/subject.ts';
import { RedisLedger } from './redis-ledger.ts';

const slowStartMs = 60_000;

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    return error instanceof LedgerUnavailable ? error.code : String(error);
  }
}

describe('a ledger whose Redis fails', () => {
  const stops: (() => Promise<unknown> | void)[] = [];
  let redis: RedisServers;
  let client: Redis;
  let prefix: string;
  let ledger: RedisLedger;
  const operations: LedgerOperation[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    stops.push(() => redis.stop());
    client = admin(redis.url);
    stops.push(() => client.disconnect());
  }, slowStartMs);

  afterAll(() => stopAll(stops), slowStartMs);

  beforeEach(async () => {
    prefix = newPrefix();
    operations.length = 0;
    const opened = await readyLedger(
      { url: redis.url, keyPrefix: prefix },
      { observer: { operation: (event) => operations.push(event) } },
    );
    ledger = opened;
    stops.push(() => opened.close());
    await age(client, prefix, 3_600_000);
  });

  /** Cuts every connection; the data stays. */
  async function cut(): Promise<void> {
    const before = ledger.health().epoch;
    await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await waitFor('the ledger to reconnect', () => ledger.health().epoch > before);
    await ready(ledger);
  }

  it('is told again what this process decided just now, when it lost its memory', async () => {
    const revision = newRevision();
    await seed(ledger, revision);
    for (const token of ['a', 'b', 'c']) await place(ledger, request(revision, token));
    await client.flushall();
    const mark = await markOf(ledger, request(revision, 'd'), 'unseeded');
    expect(await ledger.counts(revision)).toEqual({ spot: 2, onDemand: 1, untyped: 0, pending: 3 });
    await ledger.merge(revision, { resourceVersion: '40', pods: [] }, mark);
    const fourth = await place(ledger, request(revision, 'd', { knowledge: verified(10) }));
    expect(fourth).toMatchObject({ counts: { spot: 3, onDemand: 1 } });
  });

  it('is told of them also when nobody asks it for more', async () => {
    const revision = newRevision();
    await seed(ledger, revision);
    await place(ledger, request(revision, 'a'));
    await client.flushall();
    await waitFor('the decision to come back', async () => (await ledger.counts(revision)).pending === 1);
    expect(await ledger.lookup(revision, ['a'])).toMatchObject([
      { state: 'pending', type: 'on-demand', rank: 0 },
    ]);
  });

  it('is told of what was decided when the answer came by a second question only', async () => {
    const revision = newRevision();
    const impatient = await readyLedger({ url: redis.url, keyPrefix: prefix, commandTimeoutMs: 300 });
    stops.push(() => impatient.close());
    await seed(impatient, revision);
    redis.freeze();
    try {
      expect(await codeOf(impatient.decide(request(revision, 'a')))).toBe('LEDGER_TIMEOUT');
    } finally {
      redis.thaw();
    }
    await waitFor('it to be carried out', async () => (await ledger.counts(revision)).pending === 1);
    const asked = request(revision, 'a', { retry: true });
    await waitFor('an answer', async () => (await codeOf(impatient.decide(asked))) === 'ok');
    await client.flushall();
    await markOf(impatient, request(revision, 'b'), 'unseeded');
    expect((await impatient.entries(revision)).map(({ token }) => token)).toEqual(['a']);
  });

  it('is not told of what was cancelled or has ended', async () => {
    const revision = newRevision();
    await seed(ledger, revision);
    for (const token of ['a', 'b', 'c']) await place(ledger, request(revision, token));
    await ledger.cancel(revision, 'a');
    await ledger.released(revision, 'b');
    await client.flushall();
    await markOf(ledger, request(revision, 'd'), 'unseeded');
    expect((await ledger.entries(revision)).map(({ token }) => token)).toEqual(['c']);
  });

  it('must be listed after a lost connection, each ReplicaSet once', async () => {
    const [one, other] = [newRevision(), newRevision()];
    await seed(ledger, one);
    await seed(ledger, other);
    await cut();
    const mark = await markOf(ledger, request(one, 'a'), 'dirty');
    await ledger.merge(one, { resourceVersion: '40', pods: [] }, mark);
    expect((await ledger.decide(request(one, 'a'))).kind).toBe('decided');
    await expect(markOf(ledger, request(other, 'a'), 'dirty')).resolves.toBeDefined();
  });

  it('must be listed again when the connection was lost after the list began', async () => {
    const revision = newRevision();
    await seed(ledger, revision);
    await cut();
    const mark = await markOf(ledger, request(revision, 'a'), 'dirty');
    await cut();
    await ledger.merge(revision, { resourceVersion: '40', pods: [] }, mark);
    await expect(markOf(ledger, request(revision, 'a'), 'dirty')).resolves.toBeDefined();
  });

  it('needs no list for a ReplicaSet made after the loss', async () => {
    await cut();
    await waitFor('the store to be looked at', () =>
      operations.some(({ operation, outcome }) => operation === 'readStore' && outcome === 'ok'),
    );
    const revision = newRevision();
    const young = (createdAtMs: number) =>
      request(revision, 'a', { birth: { createdAtMs, untouched: true } });
    // Within the margin that clocks may differ by.
    await expect(markOf(ledger, young(Date.now() - 500), 'unseeded')).resolves.toBeDefined();
    await waitFor(
      'the loss to be past',
      async () => (await ledger.decide(young(Date.now()))).kind === 'decided',
    );
  });

  it('begins no ledger without a list in a store that was emptied just now', async () => {
    await client.flushall();
    const birth = { createdAtMs: Date.now(), untouched: true };
    await expect(markOf(ledger, request(newRevision(), 'a', { birth }), 'unseeded')).resolves.toBeDefined();
  });

  it('fails by its deadline, then at once but for one caller who tries, and recovers', async () => {
    const [revision, other] = [newRevision(), newRevision()];
    await seed(ledger, revision);
    await seed(ledger, other);
    const settings = { url: redis.url, keyPrefix: prefix, commandTimeoutMs: 300 };
    const outcomes: string[] = [];
    const observer = { operation: ({ outcome }: LedgerOperation) => outcomes.push(outcome) };
    const impatient = await readyLedger(settings, { observer });
    stops.push(() => impatient.close());
    redis.freeze();
    try {
      expect(await codeOf(impatient.decide(request(revision, 'a')))).toBe('LEDGER_TIMEOUT');
      const codes = await Promise.all(
        Array.from({ length: 50 }, (_, n) => codeOf(impatient.decide(request(revision, `t${n}`)))),
      );
      expect(codes.filter((code) => code === 'LEDGER_TIMEOUT').length).toBeLessThanOrEqual(1);
      expect(codes.filter((code) => code === 'LEDGER_CIRCUIT_OPEN').length).toBeGreaterThanOrEqual(49);
      expect(impatient.health()).toMatchObject({ mode: 'degraded' });
    } finally {
      redis.thaw();
    }
    await waitFor('an answer', async () => (await codeOf(impatient.counts(revision))) === 'ok');
    // What was decided without it meanwhile was not announced; nobody has to LIST for that.
    expect((await impatient.decide(request(revision, 'b'))).kind).toBe('decided');
    expect((await impatient.decide(request(other, 'a'))).kind).toBe('decided');
    expect(outcomes).toContain('LEDGER_TIMEOUT');
  });

  it('is told of what was decided alone as soon as it answers again, before anything else is decided', async () => {
    const [revision, other] = [newRevision(), newRevision()];
    await seed(ledger, revision);
    await seed(ledger, other);
    const settings = { url: redis.url, keyPrefix: prefix, commandTimeoutMs: 150 };
    const impatient = await readyLedger(settings);
    stops.push(() => impatient.close());
    const alone = { type: 'spot', rank: 5, substitute: false } as const;
    redis.freeze();
    try {
      expect(await codeOf(impatient.decide(request(revision, 'asked')))).toBe('LEDGER_TIMEOUT');
      await impatient.announce(revision, { ...alone, token: 'asked' });
      await impatient.announce(revision, { ...alone, token: 'not-asked', rank: 6 });
      await impatient.announce(other, { ...alone, token: 'elsewhere' });
      await impatient.announce(other, { ...alone, token: 'unwanted' });
      await impatient.cancel(other, 'unwanted').catch(() => undefined);
    } finally {
      redis.thaw();
    }
    const third = await waitFor('a decision', async () => {
      const decision = await impatient.decide(request(revision, 'third')).catch(() => undefined);
      return decision?.kind === 'decided' && decision;
    });
    expect(third).toMatchObject({ type: 'on-demand', counts: { spot: 2, onDemand: 1 } });
    await waitFor(
      'the other to be told, too',
      async () => (await impatient.entries(other)).map(({ token }) => token).join() === 'elsewhere',
    );
  });

  it('must be listed when nobody could tell it in time what was decided alone', async () => {
    const revision = newRevision();
    await seed(ledger, revision);
    const settings = { url: redis.url, keyPrefix: prefix, commandTimeoutMs: 150 };
    const forgetful = await readyLedger(settings, { timing: { untoldMs: 1 } });
    stops.push(() => forgetful.close());
    redis.freeze();
    try {
      expect(await codeOf(forgetful.decide(request(revision, 'a')))).toBe('LEDGER_TIMEOUT');
      await forgetful.announce(revision, { token: 'a', type: 'spot', rank: 5, substitute: false });
      expect(await codeOf(forgetful.decide(request(revision, 'b')))).not.toBe('ok');
    } finally {
      redis.thaw();
    }
    await waitFor('an answer', async () => (await codeOf(forgetful.counts(revision))) === 'ok');
    await expect(markOf(forgetful, request(revision, 'c'), 'dirty')).resolves.toBeDefined();
  });

  it('must be listed when two processes decided for one token', async () => {
    const revision = newRevision();
    await seed(ledger, revision);
    await place(ledger, request(revision, 'a'));
    const other = await readyLedger({ url: redis.url, keyPrefix: prefix });
    stops.push(() => other.close());
    await other.announce(revision, { token: 'a', type: 'spot', rank: 5, substitute: false });
    expect(await ledger.lookup(revision, ['a'])).toMatchObject([{ type: 'on-demand', rank: 0 }]);
    await expect(markOf(other, request(revision, 'b'), 'dirty')).resolves.toBeDefined();
    expect((await ledger.decide(request(revision, 'b'))).kind).toBe('decided');
  });

  it('says that it is not connected, and queues nothing, while Redis is down', async () => {
    const revision = newRevision();
    await redis.kill();
    try {
      await waitFor('the loss to be noticed', () => ledger.health().mode === 'degraded');
      // And not LEDGER_TIMEOUT: nothing was waited for.
      expect(await codeOf(ledger.decide(request(revision, 'a')))).toMatch(
        /LEDGER_(DISCONNECTED|CIRCUIT_OPEN)/,
      );
    } finally {
      await redis.restart();
    }
    await ready(ledger);
    await waitFor('an answer', async () => (await codeOf(ledger.counts(revision))) === 'ok');
    expect(await ledger.counts(revision)).toEqual({ spot: 0, onDemand: 0, untyped: 0, pending: 0 });
  });

  it('begins a merge again whose first part was lost', async () => {
    const revision = newRevision();
    const pods = Array.from({ length: 1_000 }, (_, n) => pod(`p${n}`, 'spot', n));
    const mark = await ledger.markList(revision);
    let merged = 0;
    const losing = await readyLedger(
      { url: redis.url, keyPrefix: prefix },
      {
        observer: {
          operation: ({ operation }) => {
            if (operation === 'mergePods' && ++merged === 3) void client.flushall();
          },
        },
      },
    );
    stops.push(() => losing.close());
    await losing.merge(revision, { resourceVersion: '40', pods }, mark);
    expect(merged).toBeGreaterThan(7);
    expect(await ledger.counts(revision)).toEqual({ spot: 1_000, onDemand: 0, untyped: 0, pending: 0 });
  });

  it('bears two merges of different lists at once', async () => {
    const revision = newRevision();
    const pods = Array.from({ length: 600 }, (_, n) => pod(`p${n}`, 'spot', n));
    const mark = await ledger.markList(revision);
    await Promise.all([
      ledger.merge(revision, { resourceVersion: '50', pods: pods.slice(0, 400) }, mark),
      ledger.merge(revision, { resourceVersion: '40', pods }, mark),
      ledger.merge(revision, { resourceVersion: '45', pods: pods.slice(0, 500) }, mark),
    ]);
    const { spot } = await ledger.counts(revision);
    // An older list may bring back what a newer one does not have, but never the other way round.
    expect(spot).toBeGreaterThanOrEqual(400);
    await ledger.merge(
      revision,
      { resourceVersion: '50', pods: pods.slice(0, 400) },
      await ledger.markList(revision),
    );
    expect(await ledger.counts(revision)).toMatchObject({ spot: 400 });
  });

  it('rebuilds a ledger of which Redis evicted a part', async () => {
    const revision = newRevision();
    await seed(ledger, revision, [pod('a', 'spot', 0), pod('b', 'on-demand', 0)]);
    const [key = ''] = await client.keys(`${prefix}*:spot`);
    await client.del(key);
    await markOf(ledger, request(revision, 'c'), 'unseeded');
    await seed(ledger, revision, [pod('a', 'spot', 0), pod('b', 'on-demand', 0)]);
    expect(await place(ledger, request(revision, 'c'))).toMatchObject({ counts: { spot: 2, onDemand: 1 } });
  });

  it('forgets a workload that was silent for long, all of it at once', async () => {
    const silent = await readyLedger({ url: redis.url, keyPrefix: prefix }, { timing: { idleMs: 2_000 } });
    stops.push(() => silent.close());
    const revision = newRevision();
    await seed(silent, revision, [pod('a', 'spot', 0)]);
    await place(silent, request(revision, 'b'));
    const keys = async () => (await client.keys(`${prefix}*replicaset-*`)).length;
    expect(await keys()).toBeGreaterThan(0);
    await waitFor('the keys to expire', async () => (await keys()) === 0);
    await markOf(silent, request(revision, 'c'), 'unseeded');
  });

  it('says what Redis refuses, and whether it passes', async () => {
    await client.config('SET', 'maxmemory', '1');
    try {
      const refused = ledger.decide(request(newRevision(), 'a'));
      await expect(refused).rejects.toMatchObject({ code: 'LEDGER_REFUSED', retryable: true });
    } finally {
      await client.config('SET', 'maxmemory', '0');
    }
    await client.call('ACL', 'SETUSER', 'nobody', 'on', '>secret', '-@all', '+info');
    const login = { url: redis.url, username: 'nobody', password: 'secret' };
    const nobody = new RedisLedger({ redis: login, now: () => performance.now() });
    stops.push(() => nobody.close());
    await waitFor('the refusal', () => nobody.health().code === 'LEDGER_REFUSED');
    await expect(nobody.decide(request(newRevision(), 'a'))).rejects.toMatchObject({
      code: 'LEDGER_REFUSED',
      retryable: false,
    });
  });

  it('answers nothing once it is closed', async () => {
    const closing = await readyLedger({ url: redis.url, keyPrefix: prefix });
    await closing.close();
    await expect(closing.counts(newRevision())).rejects.toMatchObject({
      code: 'LEDGER_CLOSED',
      retryable: false,
    });
  });
});

describe('a ledger behind Sentinels', () => {
  const stops: (() => Promise<unknown> | void)[] = [];
  afterAll(() => stopAll(stops), slowStartMs);

  it(
    'goes on after a failover, and must be listed then',
    async () => {
      const redis = await startRedis({ mode: 'sentinel' });
      stops.push(() => redis.stop());
      const nodes = redis.sentinels.map(({ host, port }) => ({ host, port }));
      const ledger = await readyLedger({ sentinel: { name: redis.masterName, nodes } });
      stops.push(() => ledger.close());
      const revision = newRevision();
      await seed(ledger, revision, [pod('a', 'spot', 0)]);
      await redis.failOver();
      await waitFor(
        'an answer of the new primary',
        async () => (await codeOf(ledger.counts(revision))) === 'ok',
      );
      const mark = await markOf(ledger, request(revision, 'b'), 'dirty');
      await ledger.merge(revision, { resourceVersion: '40', pods: [pod('a', 'spot', 0)] }, mark);
      expect((await ledger.decide(request(revision, 'b'))).kind).toBe('decided');
    },
    slowStartMs,
  );

  /** The first of the Sentinels behind a proxy. */
  async function behindProxy() {
    const redis = await startRedis({ mode: 'sentinel' });
    stops.push(() => redis.stop());
    const [sentinel, ...others] = redis.sentinels;
    const proxy = await startProxy(sentinel?.port ?? 0);
    stops.push(() => proxy.close());
    const nodes = [proxy, ...others].map(({ port }) => ({ host: '127.0.0.1', port }));
    const ledger = await readyLedger({ sentinel: { name: redis.masterName, nodes } });
    stops.push(() => ledger.close());
    return { redis, proxy, ledger };
  }

  it(
    'goes on when a Sentinel fell silent with the primary, and the others tell of the next one while it is asked',
    async () => {
      const { redis, proxy, ledger } = await behindProxy();
      proxy.block();
      await redis.failOver();
      await ready(ledger);
      expect(await codeOf(ledger.counts(newRevision()))).toBe('ok');
    },
    slowStartMs,
  );

  it(
    'goes on when a Sentinel that it listens to is gone and comes back without a word',
    async () => {
      const { redis, proxy, ledger } = await behindProxy();
      await waitFor('it to listen', () => proxy.connections === 1);
      const before = proxy.totalConnections;
      proxy.block();
      proxy.cut();
      await waitFor('it to listen again', () => proxy.totalConnections > before);
      // Longer than anything that is asked of a Sentinel.
      await delay(3_000);
      expect(await codeOf(ledger.counts(newRevision()))).toBe('ok');
      proxy.resume();
      await redis.failOver();
      await ready(ledger);
    },
    slowStartMs,
  );
});

describe('a ledger in a Redis Cluster', () => {
  const stops: (() => Promise<unknown> | void)[] = [];
  afterAll(() => stopAll(stops), slowStartMs);

  /** Of which the other nodes answer for their part while one does not. */
  async function inCluster(settings: { readonly commandTimeoutMs?: number } = {}) {
    const redis = await startRedis({ mode: 'cluster' });
    stops.push(() => redis.stop());
    for (const node of redis.nodes)
      await node.command('CONFIG', 'SET', 'cluster-require-full-coverage', 'no');
    const nodes = redis.nodes.map(({ host, port }) => ({ host, port }));
    const ledger = await readyLedger({ cluster: { nodes }, ...settings });
    stops.push(() => ledger.close());
    return { redis, ledger };
  }

  it(
    'answers for the workloads of the other nodes while one is down',
    async () => {
      const { redis, ledger } = await inCluster();
      await redis.kill(2);
      const revisions = Array.from({ length: 12 }, newRevision);
      const served = await waitFor(
        'the nodes to be told apart',
        async () => {
          const codes: string[] = [];
          for (const revision of revisions) codes.push(await codeOf(ledger.counts(revision)));
          return codes.filter((code) => code === 'ok').length;
        },
        { until: (count) => count >= 4 && count < 12 },
      );
      expect(served).toBeLessThan(12);
    },
    slowStartMs,
  );

  it(
    'answers for the workloads of the other nodes while one is silent, however much is asked of that one',
    async () => {
      const { redis, ledger } = await inCluster({ commandTimeoutMs: 1_000 });
      const revisions = Array.from({ length: 12 }, newRevision);
      const ask = async () =>
        await Promise.all(revisions.map(async (revision) => await codeOf(ledger.counts(revision))));
      // Each node knows the script by then, and what fails after that is silent.
      await waitFor('all nodes to answer', ask, { until: (codes) => codes.every((code) => code === 'ok') });
      redis.freeze(2);
      try {
        const first = await ask();
        expect(first).toContain('LEDGER_TIMEOUT');
        expect(first).toContain('ok');
        for (let again = 0; again < 3; again++) {
          const codes = await ask();
          expect(codes.filter((_, index) => first[index] === 'ok')).not.toContain('LEDGER_CIRCUIT_OPEN');
          expect(codes.map((code) => code === 'ok')).toEqual(first.map((code) => code === 'ok'));
        }
      } finally {
        redis.thaw(2);
      }
    },
    slowStartMs,
  );
});
