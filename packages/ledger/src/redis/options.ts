import { readFileSync } from 'node:fs';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { ClusterOptions, RedisOptions } from 'ioredis';
import { ImpatientSentinels } from './sentinels.ts';

export type RedisSettings = RedisServer &
  PasswordSource & {
    readonly tls?: TlsOptions;
    readonly username?: string;
    readonly keyPrefix?: string;
    readonly commandTimeoutMs?: number;
  };

export interface PasswordSource {
  readonly password?: string;
  /** Read at each connection, so that a rotated Secret is taken up. Goes before `password`. */
  readonly passwordFile?: string;
}

type RedisServer =
  /** `redis://` or `rediss://`, with a database number as its path. */
  | { readonly url: string }
  | {
      /** User, password and TLS are those of the Sentinels, which have their own. */
      readonly sentinel: PasswordSource & {
        readonly name: string;
        readonly nodes: readonly HostPort[];
        readonly username?: string;
        readonly tls?: TlsOptions;
      };
    }
  | { readonly cluster: { readonly nodes: readonly HostPort[] } };

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/**
 * Of one call. Healthy calls on a busy machine took up to 49 ms; a deadline near that would turn a burst into an
 * outage, and a longer one leaves an admission too little time to decide alone.
 */
export const defaultCommandTimeoutMs = 200;

/** When nothing more can be tried at once. */
export const reconnectMs = 250;

export const defaultKeyPrefix = 'spotalis:';

export function password({ password: given, passwordFile }: PasswordSource): string | undefined {
  return passwordFile === undefined ? given : readFileSync(passwordFile, 'utf8').trim();
}

/** Of any one connection, also of those to a Cluster's nodes. */
function connectionOptions(settings: RedisSettings) {
  return {
    // 6-8 % quicker than RESP3, and all that Redis 6.2 behind a proxy can be relied on for.
    protocol: 2,
    // Spares an ACL user the right to CLIENT SETINFO.
    disableClientInfo: true,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    // A peer that is gone without a word (node loss, dropped flow) is noticed by its silence.
    socketTimeout: 2_000,
    keepAlive: 5_000,
    // After a failover behind one address the old connection may lead to what is now a replica.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    username: settings.username,
    password: password(settings),
    ...(settings.tls === undefined ? {} : { tls: settings.tls }),
  } satisfies RedisOptions;
}

export function clientOptions(settings: RedisSettings) {
  const common = {
    ...connectionOptions(settings),
    // An admission would rather decide alone than wait in a queue.
    enableOfflineQueue: false,
    retryStrategy: (attempt: number) =>
      Math.min(25 * 2 ** Math.min(attempt, 6), 1_000) * (0.75 + Math.random() / 2),
  } satisfies RedisOptions;
  if (!('sentinel' in settings)) return common;
  const { sentinel } = settings;
  return {
    ...common,
    sentinels: sentinel.nodes.map(({ host, port }) => ({ host, port })),
    name: sentinel.name,
    role: 'master' as const,
    failoverDetector: true,
    sentinelRetryStrategy: () => reconnectMs,
    // To one that was away is listened again, for which ioredis waits a minute: a failover may come sooner.
    sentinelReconnectStrategy: () => 2_000,
    Connector: ImpatientSentinels,
    ...(sentinel.username === undefined ? {} : { sentinelUsername: sentinel.username }),
    sentinelPassword: password(sentinel),
    ...(sentinel.tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: sentinel.tls }),
  } satisfies RedisOptions;
}

export function clusterOptions(settings: RedisSettings) {
  return {
    enableOfflineQueue: false,
    redisOptions: connectionOptions(settings),
    clusterRetryStrategy: () => reconnectMs,
    slotsRefreshTimeout: 1_000,
    slotsRefreshInterval: 5_000,
    // A certificate names hosts, not the addresses they resolve to.
    ...(settings.tls === undefined ? {} : { dnsLookup: asItIs }),
  } satisfies ClusterOptions;
}

function asItIs(address: string, callback: (error: null, address: string) => void): void {
  callback(null, address);
}
