import { declare, type SettingGroup, type SettingRule, type ValuesOf } from '@spotalis/units';

const addresses = {
  format: 'list',
  pattern: /^(\[[\da-fA-F:]+\]|[\w.-]+):\d{1,5}$/,
  what: 'a list of host:port',
  example: '[redis-0.redis:6379]',
} as const;

const settings = {
  redis: {
    url: {
      format: 'url',
      schemes: ['redis', 'rediss', 'memory'],
      example: 'redis://redis:6379/0',
      default: null,
      doc: 'One Redis server. memory:// keeps the ledger inside the process: for exactly one webhook.',
    },
    sentinel: {
      name: {
        format: 'text',
        what: 'the name Sentinel knows the master by',
        example: 'mymaster',
        default: 'mymaster',
        doc: 'The master to ask the Sentinels for.',
      },
      nodes: { ...addresses, default: [], doc: 'Sentinels, as host:port.' },
      tls: {
        format: 'flag',
        default: false,
        doc: 'Speak TLS to the Sentinels; `redis.tls.caFile` is for them, too.',
      },
      username: {
        format: 'text',
        example: 'spotalis',
        default: null,
        doc: 'ACL user of the Sentinels. Unset: the default user.',
      },
      passwordFile: {
        format: 'text',
        what: 'a file',
        example: '/etc/spotalis/redis/sentinel-password',
        default: null,
        doc: "Holds the Sentinels' password and nothing else.",
      },
    },
    cluster: {
      nodes: { ...addresses, default: [], doc: 'Some nodes of a Redis Cluster, as host:port.' },
    },
    tls: {
      enabled: { format: 'flag', default: false, doc: 'Speak TLS to Redis (a rediss:// URL does so too).' },
      caFile: {
        format: 'text',
        what: 'a PEM file',
        example: '/etc/redis/ca.crt',
        default: null,
        doc: "CA that signed Redis' certificate. Unset: the system's CAs.",
      },
    },
    username: {
      format: 'text',
      example: 'spotalis',
      default: null,
      doc: 'ACL user. Unset: the default user.',
    },
    passwordFile: {
      format: 'text',
      what: 'a file',
      example: '/etc/redis/password',
      default: null,
      doc: 'Holds the password and nothing else.',
    },
    keyPrefix: {
      format: 'text',
      what: 'a text without braces',
      pattern: /^[^{}\s]+$/,
      example: 'spotalis:',
      default: 'spotalis:',
      doc: 'Starts every key, so that several installations can share one Redis.',
    },
    commandTimeout: {
      format: 'duration',
      min: '10ms',
      example: '200ms',
      default: '200ms',
      doc: 'How long one command may take before the ledger counts as unreachable.',
    },
  },
} as const satisfies SettingGroup;

/** How people describe their Redis: exactly one of url, sentinel.nodes and cluster.nodes is filled in. */
export type RedisValues = ValuesOf<typeof settings>['redis'];

const oneRedis: SettingRule<typeof settings> = ({ redis }) => {
  const named = [
    redis.url === undefined ? [] : ['redis.url'],
    redis.sentinel.nodes.length === 0 ? [] : ['redis.sentinel.nodes'],
    redis.cluster.nodes.length === 0 ? [] : ['redis.cluster.nodes'],
  ].flat();
  if (named.length === 1) return [];
  const found = named.length === 0 ? 'none is set' : `${named.join(' and ')} are set`;
  const message = `${found}; set exactly one of url, sentinel.nodes and cluster.nodes, for example url: redis://redis:6379`;
  return [{ key: 'redis', message }];
};

export const redisSettings = declare(settings, [oneRedis]);
