import { choice, duration, flag, integer, port, structure, text, textList, url } from './kinds.ts';
import type { Definition, Rule } from './load.ts';
import { optional, setting, type ValuesOf } from './setting.ts';
import {
  labelSelectorExample,
  nodeRequirementsExample,
  readLabelSelector,
  readNodeRequirements,
  readTolerations,
  tolerationsExample,
} from './structures.ts';

/**
 * Every key of the one file that both services read. A key is here only if a service uses it. Names of the
 * environment variables, the printed configuration and docs/configuration.md all follow from this.
 */
const schema = {
  readOnlyMode: setting(flag, {
    default: false,
    doc: 'Compute, report and explain everything; change nothing: no mutation, no eviction, no reservation.',
    reloadable: true,
  }),
  controller: {
    resyncPeriod: setting(duration({ min: '5s', example: '30s' }), {
      default: '30s',
      doc: 'How often each workload is looked at again without any event.',
    }),
    workers: setting(integer({ min: 1, max: 100, example: 5 }), {
      default: 5,
      doc: 'Workloads that the leader looks at side by side.',
    }),
    leaderElection: {
      enabled: setting(flag, {
        default: true,
        doc: 'Only one of several controller replicas acts. Off is safe with exactly one replica.',
      }),
      namespace: optional(text({ what: 'the name of a namespace', example: 'spotalis-system' }), {
        doc: 'Where the Lease lives. Unset: the namespace the controller runs in.',
      }),
      leaseDuration: setting(duration({ min: '1s', example: '15s' }), {
        default: '15s',
        doc: 'How long others wait after the last renewal they saw before they take over.',
      }),
      renewDeadline: setting(duration({ min: '1s', example: '10s' }), {
        default: '10s',
        doc: 'How long the leader tries to renew before it stops acting. Below leaseDuration.',
      }),
      retryPeriod: setting(duration({ min: '100ms', example: '2s' }), {
        default: '2s',
        doc: 'Time between two attempts to take or renew the Lease. Below renewDeadline.',
      }),
    },
  },
  scope: {
    namespaces: setting(
      textList({
        // A label of DNS, as the API server demands.
        pattern: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
        what: 'a list of names of namespaces',
        example: '[shop, bank]',
      }),
      {
        default: [],
        doc: 'Exactly the namespaces that may be managed, and nothing is asked about any other. Empty: all of them.',
      },
    ),
    namespaceSelector: setting(
      structure({ what: 'a label selector', example: labelSelectorExample, read: readLabelSelector }),
      {
        default: {},
        doc: 'Namespaces that may be managed, on top of the opt-in label. Empty: all of them.',
        aliases: ['controller.namespaceSelector'],
      },
    ),
    excludedNamespaces: setting(textList({ what: 'a list of namespaces', example: '[kube-system]' }), {
      default: ['kube-system', 'kube-public', 'kube-node-lease'],
      doc: 'Namespaces that are never managed, whatever their labels say.',
    }),
  },
  rebalance: {
    cooldown: setting(duration({ example: '10s' }), {
      default: '10s',
      doc: "Rest of a workload after a move's replacement is Ready. Doubled by each failed move, up to 30m.",
      reloadable: true,
    }),
    maxMovesPerMinute: setting(integer({ min: 1, max: 100_000, example: 60 }), {
      default: 60,
      doc: 'Moves begun within a minute, in the whole cluster.',
      reloadable: true,
    }),
    maxInFlight: {
      cluster: setting(integer({ min: 1, max: 10_000, example: 20 }), {
        default: 20,
        doc: 'Moves in the whole cluster whose replacement is not Ready yet.',
        reloadable: true,
      }),
      namespace: setting(integer({ min: 1, max: 10_000, example: 5 }), {
        default: 5,
        doc: 'The same in one namespace.',
        reloadable: true,
      }),
      node: setting(integer({ min: 1, max: 10_000, example: 1 }), {
        default: 1,
        doc: 'The same of pods that were on one node.',
        reloadable: true,
      }),
      workload: setting(integer({ min: 1, max: 1, example: 1 }), {
        default: 1,
        doc: 'The same of one workload: its pods are moved one after another.',
        reloadable: true,
      }),
    },
    minPodAge: setting(duration({ example: '1m' }), {
      default: '1m',
      doc: 'Pods younger than this are not moved, unless they are not ready.',
      reloadable: true,
    }),
    moveTimeout: setting(duration({ min: '1s', example: '10m' }), {
      default: '10m',
      doc: 'A move whose replacement is not Ready after this time has failed.',
      reloadable: true,
    }),
    allowSingleReplica: setting(flag, {
      default: false,
      doc: 'Move the only pod of a workload, too, which is away until its replacement is ready.',
      reloadable: true,
    }),
    schedule: optional(text({ what: 'five fields of cron', example: 'CRON_TZ=Europe/Berlin 0 22 * * *' }), {
      doc: 'When moves may start anywhere, on top of the windows of workloads. Unset: always. With duration.',
      reloadable: true,
    }),
    duration: optional(duration({ min: '1m', example: '4h' }), {
      doc: 'How long each opening of the schedule lasts.',
      reloadable: true,
    }),
  },
  fallback: {
    probe: setting(choice('placeholder', 'none'), {
      default: 'placeholder',
      doc: 'How capacity of a type is looked for where no node has room: by a pause pod that an autoscaler may start a node for, or not at all.',
    }),
    placeholderImage: setting(text({ what: 'an image', example: 'registry.k8s.io/pause:3.10' }), {
      default: 'registry.k8s.io/pause:3.10',
      doc: 'What placeholders run.',
    }),
    placeholderPriorityClass: setting(
      text({ what: 'the name of an object', example: 'spotalis-placeholder' }),
      {
        default: 'spotalis-placeholder',
        doc: 'The PriorityClass of placeholders, of value -10. It has to exist; the chart brings it.',
      },
    ),
    maxPlaceholders: setting(integer({ min: 1, max: 1_000, example: 3 }), {
      default: 3,
      doc: 'Placeholders in the whole cluster at any time.',
    }),
    placeholderTimeout: setting(duration({ min: '1s', example: '5m' }), {
      default: '5m',
      doc: 'How long a placeholder may be without a node before it is given up. The next one waits as fallback.backoff says.',
    }),
    after: setting(duration({ example: '2m' }), {
      default: '2m',
      doc: 'How long a pod may wait for spot capacity before a substitute on on-demand takes its place, where neither its workload nor its namespace sets spot-fallback-after.',
      reloadable: true,
    }),
    maxRemovalsPerMinute: setting(integer({ min: 1, max: 100_000, example: 300 }), {
      default: 300,
      doc: 'Pods without a node that are removed within a minute, in the whole cluster, for substitutes to take their place.',
      reloadable: true,
    }),
    backoff: {
      initial: setting(duration({ min: '1s', example: '1m' }), {
        default: '1m',
        doc: 'How long after the beginning of a lack of spot capacity it is looked for again, where no node shows it, and after a placeholder in vain. Doubled by each attempt in vain.',
        reloadable: true,
      }),
      max: setting(duration({ min: '1s', example: '30m' }), {
        default: '30m',
        doc: 'The longest that it gets.',
        reloadable: true,
      }),
    },
  },
  webhook: {
    configurationName: setting(text({ what: 'the name of an object', example: 'spotalis' }), {
      default: 'spotalis',
      doc: 'The MutatingWebhookConfiguration of this installation. Without a working one nothing is moved.',
    }),
    port: setting(port(9443), { default: 9443, doc: 'Where the webhook serves TLS.' }),
    certDir: setting(text({ what: 'a directory', example: '/tmp/k8s-webhook-server/serving-certs' }), {
      default: '/tmp/k8s-webhook-server/serving-certs',
      doc: 'Holds tls.crt and tls.key, unless certs.mode is auto. Changed files are picked up while running.',
    }),
    certs: {
      mode: setting(choice('auto', 'cert-manager', 'provided'), {
        default: 'auto',
        doc: 'Who makes the certificate: the webhooks themselves, cert-manager, or you. Only in auto they write it, and the caBundle.',
      }),
      name: setting(text({ what: 'the name of an object', example: 'spotalis-webhook-certificate' }), {
        default: 'spotalis-webhook-certificate',
        doc: 'The Secret that all webhooks share in mode auto, and the Lease of who renews it. Both have to exist.',
      }),
      namespace: optional(text({ what: 'the name of a namespace', example: 'spotalis-system' }), {
        doc: 'Where these two are, and the Service. Unset: the namespace the webhook runs in.',
      }),
      service: setting(text({ what: 'the name of a Service', example: 'spotalis-webhook' }), {
        default: 'spotalis-webhook',
        doc: 'The certificate is good for SERVICE.NAMESPACE.svc, by which the API server calls.',
      }),
      names: setting(textList({ what: 'a list of DNS names and addresses', example: '[localhost]' }), {
        default: [],
        doc: 'Other names that it is to be good for.',
      }),
      lifetime: setting(duration({ min: '10s', example: '2160h' }), {
        default: '2160h',
        doc: 'How long a certificate is good for. It is renewed when two thirds of that are over.',
      }),
      checkPeriod: setting(duration({ min: '100ms', example: '10s' }), {
        default: '10s',
        doc: 'How often each webhook looks at the Secret and at the registration. At most a tenth of lifetime.',
      }),
    },
    decisionTimeout: setting(duration({ min: '50ms', example: '1500ms' }), {
      default: '1500ms',
      doc: "Time for one admission. At least 300 ms below the webhook configuration's timeoutSeconds.",
    }),
    rehearsal: setting(integer({ min: 0, max: 10_000, example: 300 }), {
      default: 300,
      doc: 'Admissions of made-up pods that each webhook plays, for 5 s at most, before it serves: code that has hardly run is slow. 0: none.',
    }),
    drainGrace: setting(duration({ example: '5s' }), {
      default: '5s',
      doc: 'How long admissions are still served after the order to stop, until every client has heard of it.',
    }),
    replicas: optional(integer({ min: 1, max: 1_000, example: 3 }), {
      doc: 'How many webhooks run side by side: memory:// is refused for more than one, and while Redis is away ranks are shared out among so many (unset: 4).',
    }),
  },
  nodeLabels: {
    spot: setting(nodeLabels(), {
      default: ['karpenter.sh/capacity-type=spot'],
      doc: 'Labels by which a spot node is known; any of them suffices.',
    }),
    onDemand: setting(nodeLabels(), {
      default: ['karpenter.sh/capacity-type=on-demand'],
      doc: 'Labels by which an on-demand node is known. Where only spot nodes carry a label: its negation.',
    }),
  },
  placement: {
    tolerations: setting(
      structure({ what: 'a list of tolerations', example: tolerationsExample, read: readTolerations }),
      {
        default: [],
        doc: 'Added to pods that are sent to spot.',
      },
    ),
    nodeAffinity: {
      spot: setting(nodeRequirements(), {
        default: [],
        doc: 'Required of the nodes of pods that are sent to spot, on top of the label.',
      }),
      onDemand: setting(nodeRequirements(), {
        default: [],
        doc: 'The same of pods that are sent to on-demand.',
      }),
    },
    assumeLabels: setting(flag, {
      default: false,
      doc: 'Steer pods from the start. Otherwise none is until a node, or a NodePool of Karpenter, is seen to offer on-demand.',
    }),
    spreadSpotOverZones: setting(flag, {
      default: false,
      doc: "Adds a soft topology spread over zones to a workload's spot pods.",
    }),
  },
  defaults: {
    spotPercentage: optional(integer({ min: 0, max: 100, example: 70 }), {
      doc: 'spot-percentage of managed workloads that set none, on themselves or on their namespace.',
      reloadable: true,
    }),
    minOnDemand: optional(integer({ min: 0, max: 10_000, example: 1 }), {
      doc: 'min-on-demand of managed workloads that set none, on themselves or on their namespace.',
      reloadable: true,
    }),
  },
  redis: {
    url: optional(url({ schemes: ['redis', 'rediss', 'memory'], example: 'redis://redis:6379/0' }), {
      doc: 'One Redis server. memory:// keeps the ledger inside the process: for exactly one webhook.',
    }),
    sentinel: {
      name: setting(text({ what: 'the name Sentinel knows the master by', example: 'mymaster' }), {
        default: 'mymaster',
        doc: 'The master to ask the Sentinels for.',
      }),
      nodes: setting(addresses(), { default: [], doc: 'Sentinels, as host:port.' }),
      tls: setting(flag, {
        default: false,
        doc: 'Speak TLS to the Sentinels; `redis.tls.caFile` is for them, too.',
      }),
      username: optional(text({ example: 'spotalis' }), {
        doc: 'ACL user of the Sentinels. Unset: the default user.',
      }),
      passwordFile: optional(text({ what: 'a file', example: '/etc/spotalis/redis/sentinel-password' }), {
        doc: "Holds the Sentinels' password and nothing else.",
      }),
    },
    cluster: {
      nodes: setting(addresses(), { default: [], doc: 'Some nodes of a Redis Cluster, as host:port.' }),
    },
    tls: {
      enabled: setting(flag, { default: false, doc: 'Speak TLS to Redis (a rediss:// URL does so too).' }),
      caFile: optional(text({ what: 'a PEM file', example: '/etc/redis/ca.crt' }), {
        doc: "CA that signed Redis' certificate. Unset: the system's CAs.",
      }),
    },
    username: optional(text({ example: 'spotalis' }), { doc: 'ACL user. Unset: the default user.' }),
    passwordFile: optional(text({ what: 'a file', example: '/etc/redis/password' }), {
      doc: 'Holds the password and nothing else.',
    }),
    keyPrefix: setting(text({ what: 'a text without braces', pattern: /^[^{}\s]+$/, example: 'spotalis:' }), {
      default: 'spotalis:',
      doc: 'Starts every key, so that several installations can share one Redis.',
    }),
    commandTimeout: setting(duration({ min: '10ms', example: '200ms' }), {
      default: '200ms',
      doc: 'How long one command may take before the ledger counts as unreachable.',
    }),
  },
  logging: {
    level: setting(choice('error', 'warn', 'info', 'debug'), {
      default: 'info',
      doc: 'The least important lines still written.',
      reloadable: true,
    }),
    format: setting(choice('json', 'text'), { default: 'json', doc: 'json for machines, text for people.' }),
  },
  metrics: {
    enabled: setting(flag, { default: true, doc: 'Serve /metrics.' }),
    port: setting(port(8080), { default: 8080, doc: 'Where /metrics is served.' }),
  },
  health: {
    port: setting(port(8081), { default: 8081, doc: 'Where /healthz and /readyz are served.' }),
  },
  debug: {
    port: setting(port(8082), { default: 8082, doc: 'Where /debug/state is served, on 127.0.0.1 only.' }),
  },
} as const;

function nodeLabels() {
  return textList({
    pattern: /^(![\w./-]+|[\w./-]+!?=[\w.-]*)$/,
    what: 'one or a list of key=value, key!=value or !key',
    example: 'karpenter.sh/capacity-type=spot',
  });
}

function nodeRequirements() {
  return structure({
    what: 'a list of node affinity requirements',
    example: nodeRequirementsExample,
    read: readNodeRequirements,
  });
}

function addresses() {
  return textList({
    pattern: /^(\[[\da-fA-F:]+\]|[\w.-]+):\d{1,5}$/,
    what: 'a list of host:port',
    example: '[redis-0.redis:6379]',
  });
}

/** Everything a service is told from outside. Durations are milliseconds. */
export type Configuration = ValuesOf<typeof schema>;

const leaseTimesNest: Rule<typeof schema> = ({ controller: { leaderElection: times } }) => {
  if (times.renewDeadline >= times.leaseDuration) {
    return [
      {
        key: 'controller.leaderElection.renewDeadline',
        message: 'has to be below leaseDuration, for example 10s and 15s',
      },
    ];
  }
  // Room for a second attempt within the deadline, as the elector itself demands.
  if (times.retryPeriod * 1.2 >= times.renewDeadline) {
    return [
      {
        key: 'controller.leaderElection.retryPeriod',
        message: 'has to be below renewDeadline by a fifth of itself, for example 2s and 10s',
      },
    ];
  }
  return [];
};

const oneRedis: Rule<typeof schema> = ({ redis }) => {
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

const embeddedLedgerIsAlone: Rule<typeof schema> = ({ redis, webhook }) => {
  const { replicas = 1 } = webhook;
  if (replicas === 1 || !redis.url?.startsWith('memory:')) return [];
  const message = `memory:// keeps the ledger inside one webhook, and webhook.replicas is ${replicas}; set a Redis, for example url: redis://redis:6379, or one replica`;
  return [{ key: 'redis.url', message }];
};

const certificatesKeepUp: Rule<typeof schema> = ({ webhook: { certs } }) => {
  if (certs.checkPeriod * 10 <= certs.lifetime) return [];
  const message = 'has to be at most a tenth of lifetime, for example 10s and 2160h';
  return [{ key: 'webhook.certs.checkPeriod', message }];
};

const listedIsNotExcluded: Rule<typeof schema> = ({ scope: { namespaces, excludedNamespaces } }) => {
  const both = namespaces.filter((name) => excludedNamespaces.includes(name));
  if (both.length === 0) return [];
  const message = `${JSON.stringify(both)} cannot be managed, being in scope.excludedNamespaces; list others, for example [shop, bank]`;
  return [{ key: 'scope.namespaces', message }];
};

const backoffGrows: Rule<typeof schema> = ({ fallback: { backoff } }) => {
  if (backoff.initial <= backoff.max) return [];
  const message = 'has to be at least initial, for example 30m and 1m';
  return [{ key: 'fallback.backoff.max', message }];
};

const windowIsWhole: Rule<typeof schema> = ({ rebalance: { schedule, duration: length } }) => {
  if ((schedule === undefined) === (length === undefined)) return [];
  const [missing, present, example] =
    schedule === undefined
      ? ['rebalance.schedule', 'duration', '0 22 * * *']
      : ['rebalance.duration', 'schedule', '4h'];
  return [{ key: missing, message: `has to be set with ${present}, for example ${example}` }];
};

export const definition: Definition<typeof schema> = {
  schema,
  rules: [
    leaseTimesNest,
    backoffGrows,
    windowIsWhole,
    oneRedis,
    embeddedLedgerIsAlone,
    certificatesKeepUp,
    listedIsNotExcluded,
  ],
};
