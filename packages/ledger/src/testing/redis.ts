import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { waitFor } from '@spotalis/cluster';
import type { LedgerObserver } from '../ledger.ts';
import type { RedisSettings } from '../redis/options.ts';
import { RedisLedger } from '../redis/redis-ledger.ts';
import type { LedgerTiming } from '../timing.ts';
import type { Subject } from './subject.ts';

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
  // Far above the default: a machine that stalls for a moment is not what a test is about.
  const settings = { commandTimeoutMs: 5_000, ...redis };
  const ledger = new RedisLedger({ redis: settings, now: () => performance.now(), ...more });
  await ready(ledger);
  return ledger;
}

export async function ready(ledger: RedisLedger): Promise<void> {
  await waitFor('the ledger to be ready', () => ledger.health().mode, { until: (mode) => mode === 'ready' });
}

/** Closes and stops whatever a suite started, also when a test in it failed. */
export async function stopAll(parts: readonly (() => Promise<unknown> | void)[]): Promise<void> {
  for (const stop of parts.toReversed()) await stop();
}

/** A client with every right, for what a test does behind the ledger's back. */
export function admin(
  url: string,
  login: { username?: string; password?: string; tls?: { ca: string } } = {},
): Redis {
  return new Redis(url, { protocol: 2, ...login });
}

const ageScript = readFileSync(new URL('./age.lua', import.meta.url), 'utf8');

/** Everything that the ledgers under this prefix know happened so much longer ago. */
export async function age(client: Redis, prefix: string, ms: number): Promise<void> {
  await client.call('EVAL', ageScript, 0, `${prefix}*`, ms * 1000);
}

export function redisSubject(ledger: RedisLedger, clients: readonly Redis[], prefix: string): Subject {
  const ageAll = async (ms: number) => {
    for (const client of clients) await age(client, prefix, ms);
  };
  return {
    ledger,
    tellsLosses: clients.length === 1,
    age: ageAll,
    setBack: (ms) => ageAll(-ms),
    nowMs: async () => Date.now(),
  };
}
