import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { waitFor } from '@spotalis/cluster';
import { settings } from '@spotalis/core';
import { Credentials } from '@spotalis/kube';
import { createLogger, type Lifecycle, loadConfiguration } from '@spotalis/runtime';
import { createController } from '../app.ts';
import { toys } from '../testing/toys.ts';
import { deployment, freePort, managedNamespace, NAMESPACE, Stage } from '../testing/stage.ts';
import { modules } from './catalogue.ts';

interface Shown {
  readonly leader: { readonly isLeader: boolean };
  readonly modules: Readonly<Record<string, unknown>>;
  readonly toys: Readonly<Record<string, string>>;
}

let stage: Stage;
let directory: string;
let lifecycle: Lifecycle | undefined;
let debugPort: number;

/** The service in this process, with one module more than it ships with. */
async function startController(): Promise<Lifecycle> {
  const port = { health: await freePort(), metrics: await freePort(), debug: await freePort() };
  debugPort = port.debug;
  const file = join(directory, 'spotalis.yaml');
  await writeFile(
    file,
    JSON.stringify({
      redis: { url: stage.redis.url },
      controller: { leaderElection: { namespace: NAMESPACE } },
      health: { port: port.health },
      metrics: { port: port.metrics },
      debug: { port: port.debug },
    }),
  );
  const configuration = await loadConfiguration(settings, { file, environment: {} });
  const path = await stage.cluster.kubeconfigFor(NAMESPACE, 'controller');
  const logger = createLogger({ service: 'test', level: 'error', format: 'json', stream: new PassThrough() });
  const parts = { configuration, credentials: new Credentials({ path }), logger };
  const service = createController(parts, [...modules, toys]);
  await service.start();
  return service;
}

beforeAll(async () => {
  stage = await Stage.start();
  directory = await mkdtemp(join(tmpdir(), 'spotalis-'));
  const { api } = stage.cluster;
  await api.apply(managedNamespace('shop'));
  await api.apply(deployment('shop', 'web', 2, { 'spotalis.io/spot-percentage': '70' }));
  lifecycle = await startController();
}, 120_000);

afterAll(async () => {
  await lifecycle?.stop();
  await stage?.stop();
  await rm(directory, { recursive: true, force: true });
}, 60_000);

const shown = async (): Promise<Shown> =>
  (await (await fetch(`http://127.0.0.1:${debugPort}/debug/state`)).json()) as Shown;

describe('a module on a real cluster', () => {
  it('that may not read its own resources holds up nobody, and says so', async () => {
    await waitFor('it to be refused', async () => {
      const { modules: all, leader } = await shown();
      expect(leader.isLeader).toBe(true);
      expect(all).toEqual({
        distribution: 'Available',
        toys: { reason: 'Forbidden', resource: 'configmaps' },
      });
      return true;
    });
    await stage.agreement('shop', 'web', 2);
  }, 60_000);

  it('evicts the pod that its resource names, once it may read it', async () => {
    const { api } = stage.cluster;
    const victim = [...(await stage.truth('shop', 'web')).types.keys()][0]!;
    const pods = await api.list<{ metadata: { name: string; uid: string } }>('Pod', { namespace: 'shop' });
    const { name } = pods.find(({ metadata }) => metadata.uid === victim)!.metadata;
    await api.apply(`
apiVersion: v1
kind: ConfigMap
metadata: { name: wish, namespace: shop }
data: { evict: ${name} }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: toys }
rules: [{ apiGroups: [''], resources: [configmaps], verbs: [list, watch] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: toys }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: toys }
subjects: [{ kind: ServiceAccount, name: controller, namespace: ${NAMESPACE} }]
`);
    await waitFor(
      'the pod to go',
      async () => {
        expect((await stage.truth('shop', 'web')).types.has(victim)).toBe(false);
        return true;
      },
      // It looks again every minute.
      { timeoutMs: 120_000 },
    );
    expect((await shown()).modules['toys']).toBe('Available');
    await stage.agreement('shop', 'web', 2);
  }, 180_000);
});
