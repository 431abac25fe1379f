/** @needs control-plane real-node */
import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../api/client.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import type { ImageArchive } from '../images/archive.ts';
import { redisImage } from '../images/others.ts';
import { serviceImage } from '../images/service.ts';
import { waitFor } from '../process/wait.ts';
import { realNodeOnly } from './node.ts';
import { whyNoRealNode } from './possible.ts';

interface Pod extends KubeObject {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly containerStatuses?: readonly { readonly ready: boolean; readonly containerID: string }[];
  };
}

const namespace = 'real';
const pod = (
  name: string,
  uid: number,
  container: object,
  spec: object = {},
): KubeObject & { spec: object } => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels: { app: name } },
  spec: {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: uid, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'main',
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        ...container,
      },
    ],
    ...spec,
  },
});

const missing = await whyNoRealNode();
if (missing !== undefined) process.stderr.write(`no real node on this machine: ${missing}\n`);

(missing === undefined ? describe : describe.skip)('a real node', () => {
  let cluster: Cluster;
  let images: Record<'redis' | 'webhook' | 'controller', ImageArchive>;

  beforeAll(async () => {
    images = {
      redis: await redisImage('docker.io/library/redis:test'),
      webhook: await serviceImage('webhook', 'spotalis.test/webhook:test'),
      controller: await serviceImage('controller', 'spotalis.test/controller:test'),
    };
    const start = performance.now();
    cluster = await startCluster({ realNode: true, spotNodes: 1, onDemandNodes: 1 });
    process.stderr.write(`a real node is Ready after ${seconds(start)} s\n`);
    for (const image of Object.values(images)) await cluster.realNode.import(image);
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    const own = { name: namespace, labels, annotations: realNodeOnly };
    await cluster.api.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: own }]);
  }, 900_000);

  afterAll(async () => {
    await cluster?.stop();
  });

  const find = (name: string): Promise<Pod | undefined> =>
    cluster.api.find<Pod>('Pod', `${namespace}/${name}`);
  const ended = (name: string) =>
    waitFor(`${name} to end`, () => find(name), {
      until: (its) => its?.status.phase === 'Succeeded' || its?.status.phase === 'Failed',
    });

  it('runs containers that find each other through a Service, by its name', async () => {
    const { image } = images.redis;
    const spec = { selector: { app: 'redis' }, ports: [{ port: 6379 }] };
    await cluster.api.apply([
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'redis', namespace }, spec },
      pod('redis', 999, { image, args: ['redis-server', '--protected-mode', 'no', '--save', ''] }),
    ]);
    await waitFor('redis to be ready', () => find('redis'), {
      until: (its) => its?.status.containerStatuses?.[0]?.ready === true,
    });
    // A connection that began before kube-proxy knew the Service gets nowhere for minutes; the next one does.
    const set = 'timeout 1 redis-cli -h redis.real.svc.cluster.local set seen yes';
    const ask = `until ${set}; do sleep 0.2; done`;
    await cluster.api.apply([pod('client', 999, { image, command: ['sh', '-c', ask] })]);
    expect((await ended('client')).status.phase).toBe('Succeeded');
  }, 60_000);

  it.each(['webhook', 'controller'] as const)(
    'runs the image of the %s as nobody, on a root that is read-only',
    async (service) => {
      const { image, megabytes } = images[service];
      const env = [{ name: 'SPOTALIS_REDIS_URL', value: 'redis://redis:6379' }];
      process.stderr.write(`the image of the ${service} is ${megabytes} MB, compressed\n`);
      await cluster.api.apply([
        pod(service, 65_532, { image, args: ['--print-config'], env }, { securityContext: NON_ROOT }),
        pod(`${service}-shell`, 65_532, { image, command: ['sh', '-c', 'true'] }),
      ]);
      expect((await ended(service)).status.phase).toBe('Succeeded');
      expect(cluster.realNode.logs(namespace, `${service}_`)).toContain('readOnlyMode: false');
      // Nothing to run but Node.
      await waitFor('the shell to be missing', async () =>
        JSON.stringify((await find(`${service}-shell`))?.status).includes('executable file not found'),
      );
    },
    60_000,
  );

  it('leaves nothing on the machine when whoever started it is killed', async () => {
    const { link } = cluster.realNode.network;
    const cgroups = () => readdirSync('/sys/fs/cgroup', { recursive: true, encoding: 'utf8' });
    const ours = () => cgroups().filter((path) => path.includes(`-${process.pid}`));
    expect(existsSync(`/sys/class/net/${link}`)).toBe(true);
    expect(ours()).not.toEqual([]);
    process.kill(cluster.pids['watchdog'] ?? 0, 'SIGKILL');
    await cluster.ended;
    await waitFor('the line to the node to be gone', () => !existsSync(`/sys/class/net/${link}`));
    expect(ours()).toEqual([]);
    expect(existsSync(cluster.stateDir)).toBe(false);
  }, 60_000);
});

/** The image says which user: nobody has to. */
const NON_ROOT = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(1);
