import { readFileSync } from 'node:fs';
import type { HostPort, RedisSettings } from './options.ts';

/** How people describe their Redis: exactly one of url, sentinel.nodes and cluster.nodes is filled in. */
export interface RedisDescription {
  readonly url?: string | undefined;
  /** Nodes are host:port, an IPv6 address in brackets. */
  readonly sentinel: {
    readonly name: string;
    readonly nodes: readonly string[];
    readonly tls: boolean;
    readonly username?: string | undefined;
    readonly passwordFile?: string | undefined;
  };
  readonly cluster: { readonly nodes: readonly string[] };
  readonly tls: { readonly enabled: boolean; readonly caFile?: string | undefined };
  readonly username?: string | undefined;
  readonly passwordFile?: string | undefined;
  readonly keyPrefix: string;
  /** In milliseconds. */
  readonly commandTimeout: number;
}

/** Thrown when a file that the description names cannot be read. Asking again helps once it is there. */
class RedisDescriptionError extends Error {
  override readonly name = 'RedisDescriptionError';
  readonly code = 'REDIS_DESCRIPTION';
}

/** True for `memory://`: the ledger is inside the one webhook, which observes pods for itself. */
export function isEmbedded({ url }: Pick<RedisDescription, 'url'>): boolean {
  return url?.startsWith('memory:') ?? false;
}

export function redisSettings(redis: RedisDescription): RedisSettings {
  return {
    ...serverOf(redis),
    keyPrefix: redis.keyPrefix,
    commandTimeoutMs: redis.commandTimeout,
    ...(redis.tls.enabled || redis.url?.startsWith('rediss:') ? { tls: tlsOf(redis) } : {}),
    ...(redis.username === undefined ? {} : { username: redis.username }),
    ...(redis.passwordFile === undefined ? {} : { passwordFile: redis.passwordFile }),
  };
}

function serverOf(redis: RedisDescription) {
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

function tlsOf({ tls }: RedisDescription): { readonly ca?: string } {
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
