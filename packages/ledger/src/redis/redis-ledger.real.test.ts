/** @needs redis @also redis-8.0 valkey-8.1 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startRedis, waitFor } from '@spotalis/cluster';
import type { Redis } from 'ioredis';
import { describeLedger } from '../testing/contract.ts';
import { admin, age, newPrefix, readyLedger, redisSubject, stopAll } from '../testing/redis.ts';
import { newRevision, place, pod, request, seed, type Subject, untyped } from '../testing/subject.ts';

const slowStartMs = 60_000;

/** The line that docs/redis.md tells people to use. */
function documentedUser(): string {
  const page = readFileSync(new URL('../../../../docs/redis.md', import.meta.url), 'utf8');
  const [line] = /^user spotalis .*$/m.exec(page) ?? [];
  if (line === undefined) throw new Error('docs/redis.md shows no ACL user');
  return line;
}

async function keysWithoutExpiry(client: Redis, prefix: string): Promise<string[]> {
  const keys = await client.keys(`${prefix}*`);
  const expiries = await Promise.all(keys.map((key) => client.pttl(key)));
  return keys.filter((_key, i) => expiries[i] === -1);
}

describe('the ledger in one Redis', () => {
  const stops: (() => Promise<unknown> | void)[] = [];
  const prefix = newPrefix();
  let client: Redis;
  let subject: Subject;
  let redisUrl: string;

  beforeAll(async () => {
    const redis = await startRedis();
    stops.push(() => redis.stop());
    redisUrl = redis.url;
    client = admin(redis.url);
    stops.push(() => client.disconnect());
    const ledger = await readyLedger({ url: redis.url, keyPrefix: prefix });
    stops.push(() => ledger.close());
    // Ledgers of ReplicaSets made now may start empty only in a store that is older.
    await age(client, prefix, 3_600_000);
    subject = redisSubject(ledger, [client], prefix);
  }, slowStartMs);

  afterAll(() => stopAll(stops), slowStartMs);

  describeLedger(() => subject);

  it('asks in one piece what it asks in one turn', async () => {
    const ledger = await readyLedger({ url: redisUrl, keyPrefix: prefix });
    stops.push(() => ledger.close());
    const revision = newRevision();
    const reads = async () => Number(/^total_reads_processed:(\d+)/m.exec(await client.info('stats'))?.[1]);
    const before = await reads();
    await Promise.all(Array.from({ length: 100 }, () => ledger.counts(revision)));
    // Other clients look at the store meanwhile.
    expect((await reads()) - before).toBeLessThan(50);
  });

  it('shares its keys with the version before, which knows of no unknown types and notes no latest version', async () => {
    const { ledger } = subject;
    const revision = newRevision();
    const key = (part: string) => `${prefix}1:{${revision.workloadUid}}:${revision.replicaSetUid}:${part}`;
    await seed(ledger, revision, [pod('a', 'spot', 0), untyped('u')], '20');
    // It takes that pod for an on-demand one without a rank, and its counts have to add up.
    expect(await client.hget(key('entries'), 'u')).toMatch(/^L\|o\|-\d\|0\|20$/);
    const counted = (await client.zcard(key('spot'))) + (await client.zcard(key('ondemand')));
    expect(counted).toBe(await client.hlen(key('entries')));
    await client.hdel(key('meta'), 'newest');
    expect(await place(ledger, request(revision, 't'))).toMatchObject({ counts: { spot: 1, untyped: 1 } });
    const mark = await ledger.markList(revision);
    expect(mark.pods).toBeUndefined();
    await ledger.merge(revision, { resourceVersion: '15', pods: [pod('a', 'spot', 0)] }, mark);
    expect(await ledger.counts(revision)).toMatchObject({ spot: 1, pending: 1 });
  });

  it('says how many pools it takes to be without capacity, also when somebody else opened them', async () => {
    const seen: number[] = [];
    const other = await readyLedger(
      { url: redisUrl, keyPrefix: prefix },
      { observer: { openPools: (count) => seen.push(count) } },
    );
    stops.push(() => other.close());
    await waitFor('the first look', () => seen.at(-1) === 0);
    await subject.ledger.openPool('pool-1', 60_000);
    await subject.ledger.openPool('pool-2', 60_000);
    await waitFor('both to be known', () => seen.at(-1) === 2);
    await subject.ledger.closePool('pool-1');
    await subject.ledger.closePool('pool-2');
    await waitFor('none to be known', () => seen.at(-1) === 0);
  });

  it('keeps no key for ever, and none outside its prefix', async () => {
    const keys = await client.keys('*');
    expect(keys.length).toBeGreaterThan(100);
    expect(keys.filter((key) => !key.startsWith(prefix))).toEqual([]);
    expect(await keysWithoutExpiry(client, prefix)).toEqual([]);
  });
});

describe('the ledger in a Redis with TLS and a limited user', () => {
  const stops: (() => Promise<unknown> | void)[] = [];
  const prefix = 'spotalis:';
  let client: Redis;
  let subject: Subject;

  beforeAll(async () => {
    const acl = ['user default off', 'user tester on >rights ~* &* +@all', documentedUser()];
    const redis = await startRedis({ tls: true, acl });
    stops.push(() => redis.stop());
    const tls = { ca: redis.ca ?? '' };
    client = admin(redis.url, { username: 'tester', password: 'rights', tls });
    stops.push(() => client.disconnect());
    const passwordFile = join(tmpdir(), `ledger-password-${process.pid}`);
    writeFileSync(passwordFile, 'choose-a-password\n', { mode: 0o600 });
    stops.push(() => rmSync(passwordFile));
    const ledger = await readyLedger({ url: redis.url, tls, username: 'spotalis', passwordFile });
    stops.push(() => ledger.close());
    await age(client, prefix, 3_600_000);
    subject = redisSubject(ledger, [client], prefix);
  }, slowStartMs);

  afterAll(() => stopAll(stops), slowStartMs);

  describeLedger(() => subject);

  it('was refused nothing, and has no right that it does not use', async () => {
    expect(await client.call('ACL', 'LOG')).toEqual([]);
    const used = new Set(
      [...(await client.info('commandstats')).matchAll(/^cmdstat_([a-z|]+):/gm)].map(([, name]) => name),
    );
    const allowed = [...documentedUser().matchAll(/ \+([a-z|]+)/g)].map(([, name]) => name);
    const forCluster = new Set(['cluster|slots', 'cluster|info']);
    expect(allowed.filter((name) => !used.has(name) && !forCluster.has(name ?? ''))).toEqual([]);
  });
});

describe('the ledger behind Sentinels, with TLS to all and a password for each kind', () => {
  const stops: (() => Promise<unknown> | void)[] = [];
  const prefix = newPrefix();
  let subject: Subject;

  beforeAll(async () => {
    const acl = ['user default off', 'user tester on >rights ~* &* +@all'];
    const redis = await startRedis({ mode: 'sentinel', tls: true, acl, sentinelPassword: 'ask-me' });
    stops.push(() => redis.stop());
    const tls = { ca: redis.ca ?? '' };
    const login = { username: 'tester', password: 'rights', tls };
    const client = admin(redis.url, login);
    stops.push(() => client.disconnect());
    const passwordFile = join(tmpdir(), `sentinel-password-${process.pid}`);
    writeFileSync(passwordFile, 'ask-me\n', { mode: 0o600 });
    stops.push(() => rmSync(passwordFile));
    const nodes = redis.sentinels.map(({ host, port }) => ({ host, port }));
    const sentinel = { name: redis.masterName, nodes, tls, passwordFile };
    const ledger = await readyLedger({ ...login, sentinel, keyPrefix: prefix });
    stops.push(() => ledger.close());
    await age(client, prefix, 3_600_000);
    subject = redisSubject(ledger, [client], prefix);
  }, slowStartMs);

  afterAll(() => stopAll(stops), slowStartMs);

  describeLedger(() => subject);
});

describe('the ledger in a Redis Cluster', () => {
  const stops: (() => Promise<unknown> | void)[] = [];
  const prefix = newPrefix();
  let clients: readonly Redis[];
  let subject: Subject;

  beforeAll(async () => {
    const redis = await startRedis({ mode: 'cluster' });
    stops.push(() => redis.stop());
    clients = redis.nodes.map(({ host, port }) => admin(`redis://${host}:${port}`));
    stops.push(() => clients.forEach((client) => client.disconnect()));
    const nodes = redis.nodes.map(({ host, port }) => ({ host, port }));
    const ledger = await readyLedger({ cluster: { nodes }, keyPrefix: prefix });
    stops.push(() => ledger.close());
    subject = redisSubject(ledger, clients, prefix);
  }, slowStartMs);

  afterAll(() => stopAll(stops), slowStartMs);

  describeLedger(() => subject);

  it('has workloads on every node, and keeps no key for ever', async () => {
    for (const client of clients) {
      expect((await client.keys(`${prefix}*`)).length).toBeGreaterThan(10);
      expect(await keysWithoutExpiry(client, prefix)).toEqual([]);
    }
  });
});
