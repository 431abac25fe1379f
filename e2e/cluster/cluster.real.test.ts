import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient, type KubeObject } from './api/client.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { HOLD_ANNOTATION, READY_AFTER_ANNOTATION } from './kwok/stages.ts';
import type { NodeObject } from './nodes/node.ts';
import { waitFor } from './process/wait.ts';
import { startProxy } from './proxy/proxy.ts';

interface Pod extends KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

const SECONDS = 1000;
let cluster: Cluster;
beforeAll(async () => {
  const start = performance.now();
  cluster = await startCluster({ spotNodes: 3, onDemandNodes: 3, audit: true });
  process.stderr.write(
    `cluster of 6 nodes ready after ${((performance.now() - start) / SECONDS).toFixed(1)} s\n`,
  );
}, 60 * SECONDS);
afterAll(() => cluster.stop());

const pods = (app: string) =>
  cluster.api.list<Pod>('Pod', { namespace: 'default', labelSelector: `app=${app}` });
const isReady = ({ status }: Pod) =>
  status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
/** How many are Ready, Running but not Ready, Pending on a node, and Pending without one. */
const shape = async (app: string) => {
  const all = (await pods(app)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return {
    ready: all.filter(isReady).length,
    running: all.filter((pod) => pod.status.phase === 'Running' && !isReady(pod)).length,
    bound: all.filter((pod) => pod.status.phase === 'Pending' && pod.spec.nodeName !== undefined).length,
    unbound: all.filter((pod) => pod.spec.nodeName === undefined).length,
  };
};
/** Waits for exactly that many in each state and none in the others, and returns what it saw. */
const settled = (app: string, wanted: Partial<Awaited<ReturnType<typeof shape>>>) => {
  const whole = JSON.stringify({ ...NONE, ...wanted });
  const options = { timeoutMs: 40 * SECONDS, until: (now: object) => JSON.stringify(now) === whole };
  return waitFor(`${app} to be ${whole}`, () => shape(app), options);
};
const NONE = { ready: 0, running: 0, bound: 0, unbound: 0 };
const deploy = async (
  app: string,
  replicas: number,
  { on, annotations = {} }: { on?: 'spot' | 'on-demand'; annotations?: Record<string, string> } = {},
) =>
  cluster.api.apply(`
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${app}, namespace: default }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: ${app} } }
  template:
    metadata: { labels: { app: ${app} }, annotations: ${JSON.stringify(annotations)} }
    spec:
      ${on ? `nodeSelector: { karpenter.sh/capacity-type: ${on} }` : ''}
      containers: [{ name: main, image: none }]
`);

describe('nodes', () => {
  it('look like those of a provisioner, over three zones', async () => {
    const { metadata, status } = await cluster.api.get<NodeObject>('Node', 'spot-2');
    expect(metadata.labels).toMatchObject({
      'karpenter.sh/capacity-type': 'spot',
      'topology.kubernetes.io/zone': 'test-1b',
      'node.kubernetes.io/instance-type': 'test.16xlarge',
    });
    expect(status?.allocatable?.['pods']).toBe('110');
    expect(
      await cluster.api.list('Node', { labelSelector: 'karpenter.sh/capacity-type=on-demand' }),
    ).toHaveLength(3);
  });

  it(
    'vanish with their pods, and return empty',
    async () => {
      await deploy('vanishing', 6, { on: 'spot' });
      expect(await settled('vanishing', { ready: 6 })).toEqual({ ...NONE, ready: 6 });
      await cluster.removeNode('spot-1');
      expect(await cluster.api.find('Node', 'spot-1')).toBeUndefined();
      expect(await settled('vanishing', { ready: 6 })).toEqual({ ...NONE, ready: 6 });
      expect((await pods('vanishing')).map(({ spec }) => spec.nodeName)).not.toContain('spot-1');
      await cluster.restoreNode('spot-1');
      expect(
        (await cluster.api.get<NodeObject>('Node', 'spot-1')).metadata.labels['karpenter.sh/capacity-type'],
      ).toBe('spot');
      await cluster.api.delete('Deployment', 'vanishing');
    },
    30 * SECONDS,
  );

  it(
    'take no pods while cordoned or tainted',
    async () => {
      await cluster.cordon('spot-1');
      await cluster.taint('spot-2', { key: 'test', value: 'yes', effect: 'NoSchedule' });
      await deploy('picky', 4, { on: 'spot' });
      expect(await settled('picky', { ready: 4 })).toEqual({ ...NONE, ready: 4 });
      expect(new Set((await pods('picky')).map(({ spec }) => spec.nodeName))).toEqual(new Set(['spot-3']));
      await cluster.uncordon('spot-1');
      await cluster.untaint('spot-2', 'test');
      await cluster.cordon('spot-3');
      await cluster.api.scale('Deployment', 'picky', 8);
      expect(await settled('picky', { ready: 8 })).toEqual({ ...NONE, ready: 8 });
      expect(new Set((await pods('picky')).map(({ spec }) => spec.nodeName))).toEqual(
        new Set(['spot-1', 'spot-2', 'spot-3']),
      );
      await cluster.uncordon('spot-3');
      await cluster.api.delete('Deployment', 'picky');
    },
    30 * SECONDS,
  );

  it(
    'of one type are all away in a drought, and pods wait until it ends',
    async () => {
      await deploy('thirsty', 6, { on: 'spot' });
      await deploy('served', 3, { on: 'on-demand' });
      expect(await settled('thirsty', { ready: 6 })).toEqual({ ...NONE, ready: 6 });
      await cluster.withdrawCapacity('spot');
      expect(await settled('thirsty', { unbound: 6 })).toEqual({ ...NONE, unbound: 6 });
      expect(await settled('served', { ready: 3 })).toEqual({ ...NONE, ready: 3 });
      await cluster.returnCapacity('spot');
      expect(await settled('thirsty', { ready: 6 })).toEqual({ ...NONE, ready: 6 });
      await cluster.api.delete('Deployment', 'thirsty');
      await cluster.api.delete('Deployment', 'served');
    },
    30 * SECONDS,
  );
});

describe('pods', () => {
  it(
    'start, get ready and go when their hold is released',
    async () => {
      const these = { namespace: 'default', labelSelector: 'app=held' };
      await deploy('held', 2, { annotations: { [HOLD_ANNOTATION]: 'start' } });
      expect(await settled('held', { bound: 2 })).toEqual({ ...NONE, bound: 2 });
      expect(await cluster.holdPods(these, 'ready')).toBe(2);
      expect(await settled('held', { running: 2 })).toEqual({ ...NONE, running: 2 });
      await cluster.releasePods(these);
      expect(await settled('held', { ready: 2 })).toEqual({ ...NONE, ready: 2 });
      await cluster.holdPods(these, 'ready');
      expect(await settled('held', { running: 2 })).toEqual({ ...NONE, running: 2 });
      await cluster.holdPods(these, 'delete');
      await cluster.api.delete('Deployment', 'held');
      await waitFor('both to be terminating', async () =>
        (await pods('held')).every(({ metadata }) => metadata.deletionTimestamp),
      );
      expect(await pods('held')).toHaveLength(2);
      await cluster.releasePods(these);
      await waitFor('both to be gone', async () => (await pods('held')).length === 0);
    },
    30 * SECONDS,
  );

  it('take as long to be ready as they are told to', async () => {
    await deploy('slow', 1, { annotations: { [READY_AFTER_ANNOTATION]: '1s' } });
    expect(await settled('slow', { running: 1 })).toEqual({ ...NONE, running: 1 });
    expect(await settled('slow', { ready: 1 })).toEqual({ ...NONE, ready: 1 });
    await cluster.api.delete('Deployment', 'slow');
  });
});

describe('a watch', () => {
  it('misses nothing, also where the API server ends it because its reader is slow', async () => {
    const { api } = cluster;
    await api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'flood' } });
    const path = '/api/v1/namespaces/flood/secrets';
    const list = await api.raw<{ metadata: { resourceVersion: string } }>('GET', path);
    const done = new AbortController();
    const { resourceVersion } = list.metadata;
    const events = api.watch(path, { resourceVersion, signal: done.signal });
    const first = events.next();
    const names = Array.from({ length: 400 }, (_, index) => `drop-${index}`);
    const secret = { apiVersion: 'v1', kind: 'Secret', stringData: { water: 'x'.repeat(100_000) } };
    const drops = names.map((name) => ({ ...secret, metadata: { name, namespace: 'flood' } }));
    await api.apply(drops);
    const told = [(await first).value?.object.metadata?.name];
    for await (const { object } of events) {
      if (told.push(object.metadata?.name) === names.length) done.abort();
    }
    expect(told).toEqual(names);
    const begun = cluster.auditLog.read(
      ({ verb, objectRef }) => verb === 'watch' && objectRef?.namespace === 'flood',
    );
    expect(begun.length).toBeGreaterThan(1);
  }, 60_000);

  it('fails where the events it begins after are not there any more', async () => {
    // Which remembers no more than it saw.
    await cluster.killComponent('kube-apiserver');
    await cluster.restartComponent('kube-apiserver');
    const { signal } = new AbortController();
    const events = cluster.api.watch('/api/v1/namespaces/default/pods', { resourceVersion: '1', signal });
    await expect(events.next()).rejects.toMatchObject({ status: 410, reason: 'Expired' });
  });
});

describe('components', () => {
  it.each(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok'] as const)(
    '%s can be killed and started again',
    async (name) => {
      const before = cluster.pids[name];
      await cluster.killComponent(name);
      expect(cluster.pids[name]).toBe(0);
      await cluster.restartComponent(name);
      expect(cluster.pids[name]).not.toBe(before);
      // While etcd is away the API server may end, as it should.
      if (cluster.pids['kube-apiserver'] === 0) await cluster.restartComponent('kube-apiserver');
      const app = `after-${name}`;
      await deploy(app, 3);
      expect(await settled(app, { ready: 3 })).toEqual({ ...NONE, ready: 3 });
      await cluster.api.delete('Deployment', app);
    },
    60 * SECONDS,
  );

  it(
    'can be frozen and thawed',
    async () => {
      cluster.freezeComponent('kube-scheduler');
      await deploy('frozen', 2);
      expect(await settled('frozen', { unbound: 2 })).toEqual({ ...NONE, unbound: 2 });
      cluster.thawComponent('kube-scheduler');
      expect(await settled('frozen', { ready: 2 })).toEqual({ ...NONE, ready: 2 });
      await cluster.api.delete('Deployment', 'frozen');
    },
    90 * SECONDS,
  );
});

describe('services', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'service-'));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it(
    'run with the rights of their ServiceAccount, log to a file, and can be killed',
    async () => {
      await cluster.api.apply([
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ours' } },
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'service', namespace: 'ours' } },
      ]);
      const kubeconfig = await cluster.kubeconfigFor('ours', 'service');
      const script = join(dir, 'service.mjs');
      writeFileSync(
        script,
        "console.log('I have', process.env.KUBECONFIG, process.argv[2], process.env.COLOUR); setInterval(() => {}, 1000);",
      );
      const service = await cluster.startService({
        name: 'webhook-0',
        script,
        args: ['an argument'],
        env: { COLOUR: 'blue' },
        kubeconfig,
        ready: async () => cluster.component('webhook-0').log().includes('I have'),
      });
      expect(service.log()).toBe(`I have ${kubeconfig} an argument blue`);
      await cluster.restartComponent('webhook-0', 'SIGTERM');
      expect(cluster.pids['webhook-0']).toBe(service.pid);
      await cluster.killComponent('webhook-0');
      expect(service.pid).toBeUndefined();
    },
    90 * SECONDS,
  );
  it('that end at once make the start fail with their last words', async () => {
    const script = join(dir, 'broken.mjs');
    writeFileSync(script, "console.error('no such key: redis.urll'); process.exit(3);");
    const start = cluster.startService({ name: 'broken', script, ready: () => Promise.resolve(false) });
    await expect(start).rejects.toThrow(
      /broken ended \(code 3\) instead of serving:\nno such key: redis.urll/,
    );
  });

  it('see the API as their ServiceAccount, and the audit log tells who asked', async () => {
    const api = await cluster.apiAs('ours', 'service');
    await expect(api.list('Pod')).rejects.toMatchObject({ status: 403, reason: 'Forbidden' });
    await api.close();
    const event = await cluster.auditLog.wait(
      'the refusal',
      ({ user, responseStatus }) =>
        user.username === 'system:serviceaccount:ours:service' && responseStatus?.code === 403,
    );
    expect(event).toMatchObject({ verb: 'list', objectRef: { resource: 'pods' } });
  });

  it('may reach the API through a proxy that a test can cut', async () => {
    const proxy = await startProxy(cluster.ports.apiserver);
    const token = await cluster.serviceAccountToken('ours', 'service', { expirationSeconds: 600 });
    const through = { server: `https://127.0.0.1:${proxy.port}`, ca: cluster.ca, token };
    const api = new ApiClient(through);
    const hasty = new ApiClient({ ...through, timeoutMs: 500 });
    expect(await api.raw('GET', '/version')).toMatchObject({ gitVersion: 'v1.36.3' });
    proxy.block();
    await expect(hasty.raw('GET', '/version')).rejects.toThrow(/[Tt]imeout/);
    proxy.resume();
    expect(await api.raw('GET', '/version')).toMatchObject({ major: '1', minor: '36' });
    await Promise.all([api.close(), hasty.close()]);
    await proxy.close();
  });
});

describe('two clusters', () => {
  it(
    'run side by side and know nothing of each other',
    async () => {
      const other = await startCluster({
        spotNodes: 1,
        onDemandNodes: 0,
        nodeLabels: () => ({ colour: 'green' }),
        podsPerNode: 7,
      });
      try {
        expect(await other.api.list('Node')).toMatchObject([
          { metadata: { labels: { colour: 'green' } }, status: { allocatable: { pods: '7' } } },
        ]);
        expect(await cluster.api.list('Node')).toHaveLength(6);
        const [mine, theirs] = [cluster, other].map(
          ({ kubeconfig, ports, pids }) => new Set([kubeconfig, ...Object.values({ ...ports, ...pids })]),
        );
        expect([...(mine ?? [])].filter((each) => each !== 0 && theirs?.has(each))).toEqual([]);
      } finally {
        await other.stop();
      }
      expect(await cluster.api.list('Node')).toHaveLength(6);
    },
    60 * SECONDS,
  );
});
