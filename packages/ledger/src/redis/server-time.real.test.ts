/** @needs redis @also redis-6.2 redis-8.0 valkey-8.1 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startRedis } from '@spotalis/cluster';
import type { Redis } from 'ioredis';
import { admin, readyLedger, stopAll } from '../testing/redis.ts';
import { decideTimesUs, mergeTimesUs, quantile } from '../testing/server-time.ts';
import type { RedisLedger } from './redis-ledger.ts';

const slowStartMs = 60_000;

describe('the time that Redis takes', () => {
  const stops: (() => Promise<unknown> | void)[] = [];
  let client: Redis;
  let ledger: RedisLedger;

  beforeAll(async () => {
    const redis = await startRedis();
    stops.push(() => redis.stop());
    client = admin(redis.url);
    stops.push(() => client.disconnect());
    ledger = await readyLedger({ url: redis.url });
    stops.push(() => ledger.close());
  }, slowStartMs);

  afterAll(() => stopAll(stops), slowStartMs);

  it(
    'for a decision is the same for 20,000 pods as for 10, but for a few steps of a search',
    async () => {
      const few = await decideTimesUs(ledger, client, 10, 300);
      const many = await decideTimesUs(ledger, client, 20_000, 300);
      expect(quantile(many, 0.5) / quantile(few, 0.5)).toBeLessThan(3);
    },
    slowStartMs,
  );

  it(
    'for any one step of a merge does not grow with the list',
    async () => {
      const few = await mergeTimesUs(ledger, client, 600);
      const many = await mergeTimesUs(ledger, client, 20_000);
      expect(many.mergeUs.length).toBeGreaterThan(100);
      expect(many.sweepUs.length).toBeGreaterThan(100);
      // The few are only some steps, of which the greatest are the machine's, whenever it does something else.
      expect(quantile(many.mergeUs, 0.5) / quantile(few.mergeUs, 0.5)).toBeLessThan(3);
      expect(quantile(many.sweepUs, 0.5) / quantile(few.sweepUs, 0.5)).toBeLessThan(4);
    },
    slowStartMs,
  );
});
