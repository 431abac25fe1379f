import { readFileSync } from 'node:fs';
import type { RedisValues } from '@spotalis/core';
import type { HostPort, RedisSettings } from './options.ts';

/** Thrown when a file that the description names cannot be read. Asking again helps once it is there. */
class RedisDescriptionError extends Error {
  override readonly name = 'RedisDescriptionError';
  readonly code = 'REDIS_DESCRIPTION';
}

/** True for `memory://`: the ledger is inside the one webhook, which observes pods for itself. */
export function isEmbedded({ url }: Pick<RedisValues, 'url'>): boolean {
  return url?.startsWith('memory:') ?? false;
}

export function redisSettings(redis: RedisValues): RedisSettings {
  return {
    ...serverOf(redis),
    keyPrefix: redis.keyPrefix,
    commandTimeoutMs: redis.commandTimeout,
    ...(redis.tls.enabled || redis.url?.startsWith('rediss:') ? { tls: tlsOf(redis) } : {}),
    ...(redis.username === undefined ? {} : { username: redis.username }),
    ...(redis.passwordFile === undefined ? {} : { passwordFile: redis.passwordFile }),
  };
}

function serverOf(redis: RedisValues) {
  const { url, sentinel, cluster } = redis;
  if (url !== undefined) return { url };
  if (sentinel.nodes.length === 0) return { cluster: { nodes: cluster.nodes.map(hostPortOf) } };
  return {
    sentinel: {
      name: sentinel.name,
      nodes: sentinel.nodes.map(hostPortOf),
      ...(sentinel.tls ? { tls: tlsOf(redis) } : {}),
      ...(sentinel.username === undefined ? {} : { username: sentinel.username }),
      ...(sentinel.passwordFile === undefined ? {} : { passwordFile: sentinel.passwordFile }),
    },
  };
}

function tlsOf({ tls }: RedisValues): { readonly ca?: string } {
  if (tls.caFile === undefined) return {};
  try {
    return { ca: readFileSync(tls.caFile, 'utf8') };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RedisDescriptionError(`redis.tls.caFile: ${tls.caFile} cannot be read (${why})`);
  }
}

function hostPortOf(address: string): HostPort {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replaceAll(/[[\]]/g, ''), port: Number(address.slice(colon + 1)) };
}
