import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { waitFor } from '@spotalis/cluster';
import type { LedgerObserver } from '../ledger.ts';
import type { RedisSettings } from '../redis/options.ts';
import { RedisLedger } from '../redis/redis-ledger.ts';
import type { LedgerTiming } from '../timing.ts';

/** A key prefix of its own keeps a test apart from others on the same server. */
let prefixes = 0;

export function newPrefix(): string {
  prefixes++;
  return `test-${process.pid}-${prefixes}:`;
}

export async function readyLedger(
  redis: RedisSettings,
  more: { timing?: Partial<LedgerTiming>; observer?: LedgerObserver } = {},
): Promise<RedisLedger> {
  const ledger = new RedisLedger({ redis, now: () => performance.now(), ...more });
  await ready(ledger);
  return ledger;
}

export async function ready(ledger: RedisLedger): Promise<void> {
  await waitFor('the ledger to be ready', async () => ledger.health().mode === 'ready' || ledger.health());
}

/** A client with every right, for what a test does behind the ledger's back. */
export function admin(url: string): Redis {
  return new Redis(url, { protocol: 2 });
}

const ageScript = readFileSync(new URL('./age.lua', import.meta.url), 'utf8');

/** Everything that the ledgers under this prefix know happened so much longer ago. */
export async function age(client: Redis, prefix: string, ms: number): Promise<void> {
  await client.call('EVAL', ageScript, 0, `${prefix}*`, ms * 1000);
}
