import { readFileSync } from 'node:fs';
import {
  type HostPort,
  type Ledger,
  type LedgerObserver,
  openLedger,
  type RedisSettings,
} from '@spotalis/ledger';
import { type Configuration, ConfigurationError } from '@spotalis/runtime';

type RedisConfiguration = Configuration['redis'];

/**
 * The ledger that webhook and controller share. Undefined for `memory://`: that one is inside the webhook, which
 * observes for itself.
 */
export function openSharedLedger(
  configuration: RedisConfiguration,
  now: () => number,
  observer: LedgerObserver,
): Ledger | undefined {
  if (configuration.url?.startsWith('memory:')) return undefined;
  return openLedger({ redis: settingsOf(configuration), now, observer });
}

function settingsOf(redis: RedisConfiguration): RedisSettings {
  return {
    ...serverOf(redis),
    keyPrefix: redis.keyPrefix,
    commandTimeoutMs: redis.commandTimeout,
    ...(redis.tls.enabled || redis.url?.startsWith('rediss:') ? { tls: tlsOf(redis) } : {}),
    ...(redis.username === undefined ? {} : { username: redis.username }),
    ...(redis.passwordFile === undefined ? {} : { passwordFile: redis.passwordFile }),
  };
}

function serverOf(redis: RedisConfiguration) {
  if (redis.url !== undefined) return { url: redis.url };
  if (redis.sentinel.nodes.length > 0) {
    return { sentinel: { name: redis.sentinel.name, nodes: redis.sentinel.nodes.map(hostPortOf) } };
  }
  return { cluster: { nodes: redis.cluster.nodes.map(hostPortOf) } };
}

function tlsOf({ tls }: RedisConfiguration): { readonly ca?: string } {
  if (tls.caFile === undefined) return {};
  try {
    return { ca: readFileSync(tls.caFile, 'utf8') };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError([{ key: 'redis.tls.caFile', message: `cannot be read (${why})` }]);
  }
}

function hostPortOf(address: string): HostPort {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replaceAll(/[[\]]/g, ''), port: Number(address.slice(colon + 1)) };
}
