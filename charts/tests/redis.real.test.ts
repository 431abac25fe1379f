/** @needs redis control-plane helm */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  chartDir,
  type Cluster,
  Helm,
  install,
  type KubeObject,
  type RedisServers,
  startCluster,
  startRedis,
  waitFor,
} from '@spotalis/cluster';
import { parse } from 'yaml';
import { manifest, optedInNamespace, Workload } from '@spotalis/e2e/workloads';

const release = { name: 'spotalis', namespace: 'spotalis-system' };
const mounted = '/etc/spotalis/redis';
const password = 'not-the-one-in-the-docs';
const commands = readFileSync(join(chartDir('redis'), 'commands.txt'), 'utf8').trim();
const acl = [
  'user default off',
  `user spotalis on >${password} ~spotalis:* resetchannels -@all ${commands} +cluster|slots +cluster|info`,
];

interface Mode {
  readonly mode: RedisServers['mode'];
  readonly tls: boolean;
  /** What a user writes under `global.config.redis`, besides the name of the ACL user. */
  readonly values: (redis: RedisServers) => Readonly<Record<string, unknown>>;
}

interface PodTemplate {
  readonly template: { readonly spec: unknown };
}

interface File {
  readonly 'spotalis.yaml': string;
}

const addresses = (nodes: RedisServers['nodes']) => nodes.map(({ host, port }) => `${host}:${port}`);
const modes: readonly Mode[] = [
  { mode: 'standalone', tls: true, values: ({ url }) => ({ url }) },
  {
    mode: 'sentinel',
    tls: false,
    values: ({ masterName, sentinels }) => ({
      sentinel: { name: masterName, nodes: addresses(sentinels) },
    }),
  },
  { mode: 'cluster', tls: false, values: ({ nodes }) => ({ cluster: { nodes: addresses(nodes) } }) },
];

describe('a Redis of your own, by the values of the chart', () => {
  let cluster: Cluster;
  let helm: Helm;
  let secret: string;

  beforeAll(async () => {
    [cluster, helm] = await Promise.all([startCluster({ podsPerNode: 500, audit: true }), Helm.prepare()]);
    secret = mkdtempSync(join(tmpdir(), 'redis-secret-'));
  }, 120_000);

  afterAll(async () => {
    helm?.dispose();
    rmSync(secret, { recursive: true, force: true });
    await cluster?.stop();
  });

  it.each(modes)(
    'keeps the ledger: $mode, with a password and an ACL, TLS: $tls',
    async ({ mode, tls, values }) => {
      const redis = await startRedis({ mode, tls, acl });
      try {
        const objects = await helm.template(release, chartDir(), {
          redis: { enabled: false },
          global: {
            redisSecret: { name: 'my-redis', ...(tls && { caKey: 'ca.crt' }) },
            config: { redis: { ...values(redis), username: 'spotalis' } },
          },
        });
        for (const service of ['webhook', 'controller'])
          expect(podOf(objects, service)).toMatchObject({
            volumes: expect.arrayContaining([
              { name: 'redis', secret: expect.objectContaining({ secretName: 'my-redis' }) },
            ]),
            containers: [
              {
                volumeMounts: expect.arrayContaining([{ name: 'redis', mountPath: mounted, readOnly: true }]),
              },
            ],
          });
        // What the kubelet would do with the Secret.
        writeFileSync(join(secret, 'password'), password);
        writeFileSync(join(secret, 'ca.crt'), redis.ca ?? '');
        const configuration = JSON.parse(
          JSON.stringify(configurationOf(objects)).replaceAll(`${mounted}/`, `${secret}/`),
        );
        const installation = await install(cluster, {
          redis: configuration.redis,
          webhooks: 1,
          controllers: 1,
        });
        const ready = () => installation.admissionMetric('spotalis_ledger_mode', { mode: 'ready' });
        await waitFor('the ledger to be reached', async () => (await ready()) === 1);

        const policy = { spotPercentage: 70, minOnDemand: 2 };
        const declaration = { name: 'web', namespace: mode, replicas: 20, policy };
        await cluster.api.apply([optedInNamespace(mode), manifest(declaration)]);
        const workload = new Workload(cluster.api, declaration);
        expect(await workload.splitWhenCreated(20)).toEqual(workload.exactly(20));
        expect(await ready()).toBe(1);
        await installation.stop();
      } finally {
        await redis.stop();
      }
    },
    90_000,
  );
});

function podOf(objects: readonly KubeObject[], service: string): unknown {
  const found = objects.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata?.name === `spotalis-${service}`,
  );
  return found !== undefined && 'spec' in found ? (found.spec as PodTemplate).template.spec : undefined;
}

/** What the services read, as the chart wrote it. */
function configurationOf(objects: readonly KubeObject[]): unknown {
  const found = objects.find(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata?.name === 'spotalis-webhook',
  );
  return found !== undefined && 'data' in found ? parse((found.data as File)['spotalis.yaml']) : undefined;
}
