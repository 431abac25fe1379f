import { describe, expect, it } from '@jest/globals';
import { settings } from '@spotalis/core';
import { ConfigurationError, configurationReference, loadConfiguration } from '@spotalis/runtime';

const redis = { SPOTALIS_REDIS_URL: 'redis://redis:6379' };

const fromFile = (text: string, environment: Readonly<Record<string, string>> = redis) =>
  loadConfiguration(settings, { file: 'config.yaml', text, environment });

const fromEnvironment = (environment: Readonly<Record<string, string>>) =>
  loadConfiguration(settings, { environment });

const at = (values: object, key: string): unknown =>
  key.split('.').reduce((group: object, name) => group[name as keyof object], values);

async function problemsOf(loading: Promise<unknown>): Promise<string> {
  const error: unknown = await loading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ConfigurationError);
  return error instanceof ConfigurationError ? error.message : '';
}

describe('precedence', () => {
  it('takes the default, then the file, then the environment', async () => {
    const loaded = await fromFile(
      'controller: { resyncPeriod: 40s }\nwebhook: { port: 1, decisionTimeout: 1s }',
      {
        ...redis,
        SPOTALIS_WEBHOOK_PORT: '2',
      },
    );
    const { values } = loaded;
    expect(values.controller.resyncPeriod).toBe(40_000);
    expect(values.webhook).toMatchObject({ port: 2, decisionTimeout: 1_000 });
    expect(values.metrics.port).toBe(8080);
    expect(loaded.describe()).toContain('  resyncPeriod: 40s # file config.yaml\n');
    expect(loaded.describe()).toContain('  port: 2 # environment SPOTALIS_WEBHOOK_PORT\n');
    expect(loaded.describe()).toContain('  port: 8080 # default\n');
  });

  it('takes an empty file, an empty group and an empty key as not written', async () => {
    expect((await fromFile('')).values.controller.resyncPeriod).toBe(30_000);
    expect((await fromFile('controller:\nlogging: { level: }')).values.logging.level).toBe('info');
  });

  it('does without a file', async () => {
    const { values } = await fromEnvironment(redis);
    expect(values.redis.url).toBe('redis://redis:6379');
  });

  it.each([
    ['SPOTALIS_READ_ONLY_MODE', 'true', 'readOnlyMode', true],
    [
      'SPOTALIS_CONTROLLER_LEADER_ELECTION_RETRY_PERIOD',
      '3s',
      'controller.leaderElection.retryPeriod',
      3_000,
    ],
    ['SPOTALIS_SCOPE_EXCLUDED_NAMESPACES', 'a, b', 'scope.excludedNamespaces', ['a', 'b']],
    ['SPOTALIS_SCOPE_NAMESPACES', 'a,b-1', 'scope.namespaces', ['a', 'b-1']],
    ['SPOTALIS_SCOPE_EXCLUDED_NAMESPACES', '[c]', 'scope.excludedNamespaces', ['c']],
    [
      'SPOTALIS_NODE_LABELS_ON_DEMAND',
      '!cloud.google.com/gke-spot',
      'nodeLabels.onDemand',
      ['!cloud.google.com/gke-spot'],
    ],
    [
      'SPOTALIS_SCOPE_NAMESPACE_SELECTOR',
      '{"matchLabels":{"a":"b"}}',
      'scope.namespaceSelector',
      { matchLabels: { a: 'b' } },
    ],
    [
      'SPOTALIS_PLACEMENT_TOLERATIONS',
      '[{key: spot, operator: Exists}]',
      'placement.tolerations',
      [{ key: 'spot', operator: 'Exists' }],
    ],
    ['SPOTALIS_DEFAULTS_SPOT_PERCENTAGE', '70', 'defaults.spotPercentage', 70],
  ])('reads %s=%s', async (name, text, key, value) => {
    const { values } = await fromEnvironment({ ...redis, [name]: text });
    expect(at(values, key)).toEqual(value);
  });
});

describe('addresses in the environment', () => {
  it.each([
    ['[fd00::1]:6379,[fd00::2]:6379', ['[fd00::1]:6379', '[fd00::2]:6379']],
    ['[fd00::1]:6379', ['[fd00::1]:6379']],
    ['["[fd00::1]:6379"]', ['[fd00::1]:6379']],
  ])('may be of IPv6: %s', async (text, nodes) => {
    const { values } = await fromEnvironment({ SPOTALIS_REDIS_CLUSTER_NODES: text });
    expect(values.redis.cluster.nodes).toEqual(nodes);
  });
});

describe('what is refused', () => {
  it.each([
    ['controler: { resyncPeriod: 30s }', 'controler: unknown key; did you mean controller?'],
    [
      'controller: { resycPeriod: 30s }',
      'controller.resycPeriod: unknown key; did you mean controller.resyncPeriod?',
    ],
    ['resyncPeriod: 30s', 'resyncPeriod: unknown key; did you mean controller.resyncPeriod?'],
    ['health: { kafka: 1 }', 'health.kafka: unknown key; known here: health.port'],
    ['health: 8081', 'health: 8081 is not allowed; needs a map with port'],
    [
      'controller: { resyncPeriod: 30 }',
      'controller.resyncPeriod: 30 is not allowed; needs a duration of at least 5s, for example 30s',
    ],
    ['controller: { resyncPeriod: 4999ms }', '"4999ms" is not allowed'],
    [
      'webhook: { port: 65536 }',
      'webhook.port: 65536 is not allowed; needs a whole number from 0 to 65535, for example 9443',
    ],
    ['webhook: { port: "9443" }', 'webhook.port: "9443" is not allowed'],
    ['metrics: { enabled: "yes" }', 'metrics.enabled: "yes" is not allowed; needs true or false'],
    [
      'logging: { level: verbose }',
      'logging.level: "verbose" is not allowed; needs one of error, warn, info, debug',
    ],
    ['logging: { level: { a: { b: { c: 1 } } } }', 'logging.level: {"a":{"b":{"c":1}}} is not allowed'],
    ['nodeLabels: { spot: [a=b, "c d"] }', 'entry 1 is "c d"'],
    ['scope: { namespaceSelector: { matchLabels: { a: 1 } } }', 'matchLabels.a is no text: put 1 in quotes'],
    [
      'scope: { namespaceSelector: { matchExpressions: [{ key: a, operator: In }] } }',
      'matchExpressions[0] needs values',
    ],
    ['scope: { namespaces: [shop, Bank] }', 'entry 1 is "Bank"'],
    ['placement: { tolerations: [{ operator: Equal }] }', 'entry 0 has no key'],
    ['placement: { tolerations: [{ key: a, effect: No }] }', 'entry 0 has effect "No"'],
    ['__proto__: { a: 1 }', '__proto__: unknown key'],
    ['constructor: { prototype: 1 }', 'constructor: unknown key'],
    ['- a', 'needs a map of keys'],
    ['a: [', ':1:5: not valid YAML'],
    ['logging: { level: info }\nlogging: { level: info }', ':2:1: not valid YAML'],
    ['scope: { excludedNamespaces: [kube-system, *-system] }', 'not valid YAML: Unresolved alias'],
  ])('%s', async (yaml, message) => {
    expect(await problemsOf(fromFile(yaml))).toContain(message);
  });

  it('tells every problem at once, each on its own line', async () => {
    const message = await problemsOf(
      fromFile('health: { prot: 1 }', { SPOTALIS_WEBHOOK_PORT: 'x', SPOTALIS_LOGING_LEVEL: 'info' }),
    );
    expect(message.split('\n')).toEqual([
      'health.prot: unknown key; did you mean health.port?',
      'SPOTALIS_LOGING_LEVEL: unknown environment variable; did you mean SPOTALIS_LOGGING_LEVEL?',
      'webhook.port: "x" is not allowed (from SPOTALIS_WEBHOOK_PORT); needs a whole number from 0 to 65535, for example 9443',
    ]);
  });

  it('is a file that cannot be read', async () => {
    const message = await problemsOf(
      loadConfiguration(settings, { file: '/does/not/exist.yaml', environment: redis }),
    );
    expect(message).toMatch(/^\/does\/not\/exist\.yaml: cannot be read \(ENOENT\)/);
  });

  it.each([
    [
      { SPOTALIS_CONTROLLER_LEADER_ELECTION_RENEW_DEADLINE: '15s', ...redis },
      'renewDeadline: has to be below leaseDuration',
    ],
    [
      { SPOTALIS_CONTROLLER_LEADER_ELECTION_RETRY_PERIOD: '10s', ...redis },
      'retryPeriod: has to be below renewDeadline',
    ],
    [
      { SPOTALIS_CONTROLLER_LEADER_ELECTION_RETRY_PERIOD: '9s', ...redis },
      'retryPeriod: has to be below renewDeadline',
    ],
    [
      { SPOTALIS_FALLBACK_BACKOFF_INITIAL: '1h', ...redis },
      'fallback.backoff.max: has to be at least initial',
    ],
    [
      { SPOTALIS_REBALANCE_SCHEDULE: '0 22 * * *', ...redis },
      'rebalance.duration: has to be set with schedule',
    ],
    [
      { SPOTALIS_SCOPE_NAMESPACES: 'shop,kube-system', ...redis },
      'scope.namespaces: ["kube-system"] cannot be managed, being in scope.excludedNamespaces; list others, for example [shop, bank]',
    ],
    [{ SPOTALIS_REBALANCE_DURATION: '4h', ...redis }, 'rebalance.schedule: has to be set with duration'],
    [{}, 'redis: none is set; set exactly one of'],
    [{ SPOTALIS_REDIS_CLUSTER_NODES: 'a:1', ...redis }, 'redis: redis.url and redis.cluster.nodes are set'],
    [
      { SPOTALIS_REBALANCE_SCHEDULE: '0 22 * *', SPOTALIS_REBALANCE_DURATION: '4h', ...redis },
      'rebalance.schedule: "0 22 * *" is not',
    ],
  ])('is a pair of values that does not go together %#', async (environment, message) => {
    expect(await problemsOf(fromEnvironment(environment))).toContain(message);
  });

  it.each([
    ['http://u:hunter2@r', '"http://u:********@r" is not allowed'],
    ['redis://:abc/hunter2@r:1', '"redis://:********@r:1" is not allowed'],
    ['http://u:a hunter2@r', '"http://u:********@r" is not allowed'],
    ['u:hunter2@r', '"u:********@r" is not allowed'],
    ['hunter2@r:6379', '"********@r:6379" is not allowed'],
  ])('never tells the password of a URL: %s', async (text, told) => {
    const message = await problemsOf(fromEnvironment({ SPOTALIS_REDIS_URL: text }));
    expect(message).toContain(told);
    expect(message).not.toContain('hunter2');
  });
});

describe('the environment of a pod', () => {
  it('may hold what the kubelet says of Services with our names', async () => {
    const environment = {
      ...redis,
      SPOTALIS_WEBHOOK_PORT: 'tcp://10.96.0.1:443',
      SPOTALIS_WEBHOOK_SERVICE_HOST: '10.96.0.1',
      SPOTALIS_WEBHOOK_SERVICE_PORT: '443',
      SPOTALIS_WEBHOOK_SERVICE_PORT_HTTPS: '443',
      SPOTALIS_WEBHOOK_PORT_443_TCP: 'tcp://10.96.0.1:443',
      SPOTALIS_WEBHOOK_PORT_443_TCP_ADDR: '10.96.0.1',
      SPOTALIS_PROPERTY_RUNS: '5000',
    };
    expect((await fromEnvironment(environment)).values.webhook.port).toBe(9443);
  });
});

describe('an older name', () => {
  it('is read as the new one, from file and environment', async () => {
    const selector = { matchLabels: { team: 'web' } };
    const { values } = await fromFile('controller: { namespaceSelector: { matchLabels: { team: web } } }');
    expect(values.scope.namespaceSelector).toEqual(selector);
    const environment = { ...redis, SPOTALIS_CONTROLLER_NAMESPACE_SELECTOR: '{matchLabels: {team: web}}' };
    expect((await fromEnvironment(environment)).values.scope.namespaceSelector).toEqual(selector);
  });

  it('is refused beside the new one', async () => {
    const message = await problemsOf(
      fromFile('controller: { namespaceSelector: {} }\nscope: { namespaceSelector: {} }'),
    );
    expect(message).toBe(
      'scope.namespaceSelector: is the same setting as controller.namespaceSelector; write only scope.namespaceSelector',
    );
  });
});

describe('the printed configuration', () => {
  it('names the origin of each value and masks passwords', async () => {
    const loaded = await loadConfiguration(settings, {
      environment: { SPOTALIS_REDIS_URL: 'redis://u:hunter2@redis', SPOTALIS_LOGGING_LEVEL: 'debug' },
    });
    expect(loaded.describe()).toContain('  level: debug # environment SPOTALIS_LOGGING_LEVEL\n');
    expect(loaded.describe()).toContain('  resyncPeriod: 30s # default\n');
    expect(loaded.describe()).toContain('url: redis://u:********@redis # environment SPOTALIS_REDIS_URL');
  });

  it('is a file that yields the same configuration', async () => {
    const first = await fromEnvironment({
      ...redis,
      SPOTALIS_SCOPE_NAMESPACE_SELECTOR: '{matchLabels: {a: "true", team.example.com/name: web}}',
      SPOTALIS_NODE_LABELS_SPOT: '!a,b=c',
    });
    const second = await fromFile(first.describe(), {});
    expect(second.values).toEqual(first.values);
  });
});

describe('each key', () => {
  it('has an environment variable of its own', () => {
    const reference = configurationReference(settings, '');
    const names = [...reference.matchAll(/^- environment: `(.+)`$/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(60);
    expect(new Set(names).size).toBe(names.length);
  });

  it('has a meaning', () => {
    const meanings = configurationReference(settings, '')
      .split(/^### .+$/m)
      .slice(1);
    for (const meaning of meanings) expect(meaning).toMatch(/^\n\n.{10,}\.\n\n- default/);
  });
});
