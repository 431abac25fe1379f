import type { Ledger, LedgerObserver } from './ledger.ts';
import { MemoryLedger } from './memory/memory-ledger.ts';
import type { RedisSettings } from './redis/options.ts';
import { RedisLedger } from './redis/redis-ledger.ts';

export interface OpenLedgerOptions {
  readonly redis: RedisSettings;
  readonly now: () => number;
  readonly observer?: LedgerObserver;
}

/** `memory://` embeds the ledger in this process; anything else is a Redis. Does not wait for the connection. */
export function openLedger(options: OpenLedgerOptions): Ledger {
  const { redis, now } = options;
  if ('url' in redis && redis.url.startsWith('memory:')) return new MemoryLedger({ now });
  return new RedisLedger(options);
}
