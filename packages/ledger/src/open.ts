import type { Ledger, LedgerObserver } from './ledger.ts';
import { MemoryLedger } from './memory/memory-ledger.ts';
import type { RedisSettings } from './redis/options.ts';
import { RedisLedger } from './redis/redis-ledger.ts';

export interface OpenLedgerOptions {
  readonly redis: RedisSettings;
  /** Never set back: calls are timed by it. */
  readonly now: () => number;
  /** The wall clock. Only an embedded ledger goes by it; of the others Redis has its own. */
  readonly wallMs: () => number;
  readonly observer?: LedgerObserver;
}

/** `memory://` embeds the ledger in this process; anything else is a Redis. Does not wait for the connection. */
export function openLedger(options: OpenLedgerOptions): Ledger {
  const { redis, wallMs } = options;
  if ('url' in redis && redis.url.startsWith('memory:')) return new MemoryLedger({ now: wallMs });
  return new RedisLedger(options);
}
