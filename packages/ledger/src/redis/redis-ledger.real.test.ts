import { afterAll, beforeAll, describe } from '@jest/globals';
import { type RedisServers, startRedis } from '@spotalis/cluster';
import type { Redis } from 'ioredis';
import { describeLedger } from '../testing/contract.ts';
import { admin, age, newPrefix, readyLedger } from '../testing/redis.ts';
import type { Subject } from '../testing/subject.ts';
import type { RedisLedger } from './redis-ledger.ts';

describe('the ledger in one Redis', () => {
  let redis: RedisServers;
  let client: Redis;
  let ledger: RedisLedger;
  let subject: Subject;

  beforeAll(async () => {
    redis = await startRedis();
    client = admin(redis.url);
    const keyPrefix = newPrefix();
    ledger = await readyLedger({ url: redis.url, keyPrefix });
    // Ledgers of ReplicaSets made now may start empty only in a store that is older.
    await age(client, keyPrefix, 3_600_000);
    subject = {
      ledger,
      age: async (ms) => age(client, keyPrefix, ms),
      nowMs: async () => Number((await client.time())[0]) * 1000,
    };
  });

  afterAll(async () => {
    await ledger.close();
    client.disconnect();
    await redis.stop();
  });

  describeLedger(() => subject);
});
