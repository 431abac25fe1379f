/** @needs control-plane real-node */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, realNodeOnly, startCluster, waitFor, whyNoRealNode } from '@spotalis/cluster';
import { type RawResizablePod, readResizablePod, resizeKeys, type ResizeSurroundings } from '@spotalis/core';
import { ApiClient, Credentials, resizePod, Transport } from '@spotalis/kube';
import { type Ask, intentOf, silentLogger, unhindered } from '../../testing/resizing.ts';
import type { ResizeAnswer } from './flight.ts';
import { Resizer } from './resizer.ts';

const MIB = 2 ** 20;
/** The one image that every real node has: BusyBox. */
const image = 'registry.k8s.io/pause:3.10';
const namespace = 'sizes';
const key = resizeKeys.originalCpuLimits;

interface Running {
  readonly name: string;
  readonly containerID: string;
  readonly restartCount: number;
  readonly ready: boolean;
  readonly resources?: object;
}

type RunningPod = Omit<RawResizablePod, 'status'> & {
  readonly status: { readonly containerStatuses?: readonly Running[] };
};

const missing = await whyNoRealNode();
if (missing !== undefined) process.stderr.write(`no real node on this machine: ${missing}\n`);

(missing === undefined ? describe : describe.skip)('on a real kubelet', () => {
  let cluster: Cluster;
  let client: ApiClient;
  let resizer: Resizer;
  let around: Partial<ResizeSurroundings> = {};
  const unwatch = new AbortController();

  beforeAll(async () => {
    cluster = await startCluster({ realNode: true, spotNodes: 0, onDemandNodes: 0 });
    const own = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, annotations: realNodeOnly },
    });
    await cluster.api.apply([own(namespace), own('bounded'), own('filled'), own('short')]);
    const credentials = new Credentials({ path: cluster.kubeconfig });
    client = new ApiClient(new Transport({ credentials, userAgent: 'resizer-test' }));
    resizer = new Resizer({
      client,
      mayWrite: () => true,
      surroundingsOf: () => ({ ...unhindered, ...around }),
      now: () => performance.now(),
      logger: silentLogger,
    });
    void follow();
  }, 900_000);

  afterAll(async () => {
    unwatch.abort();
    await resizer?.abandon();
    await client?.transport.close();
    await cluster?.stop();
  });

  /** In place of the controller's store. */
  async function follow(): Promise<void> {
    const events = cluster.api.watch<RawResizablePod>('/api/v1/pods', {
      resourceVersion: '0',
      signal: unwatch.signal,
    });
    for await (const { type, object } of events) {
      if (type === 'DELETED') resizer.gone(object.metadata.uid);
      else resizer.saw(object);
    }
  }

  const find = (name: string, within = namespace) => cluster.api.get<RunningPod>('Pod', `${within}/${name}`);

  /** Makes a pod of containers that do nothing, or run a script, and waits until they run. */
  async function run(
    name: string,
    containers: Readonly<Record<string, { requests?: object; limits?: object }>>,
    { within = namespace, script = ':', spec = {} } = {},
  ): Promise<RunningPod> {
    await cluster.api.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: within },
      spec: {
        terminationGracePeriodSeconds: 0,
        automountServiceAccountToken: false,
        volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }],
        containers: Object.entries(containers).map(([container, resources]) => ({
          name: container,
          image,
          command: [
            '/bin/busybox',
            'sh',
            '-c',
            `${script} && : > /memory/ready && exec /bin/busybox sleep 1000000`,
          ],
          readinessProbe: {
            exec: { command: ['/bin/busybox', 'test', '-f', '/memory/ready'] },
            periodSeconds: 1,
          },
          resources,
          volumeMounts: [{ name: 'memory', mountPath: '/memory' }],
        })),
        ...spec,
      },
    } as never);
    await waitFor(`${name} to run`, () => find(name, within), {
      until: ({ status }) =>
        (status.containerStatuses ?? []).filter((one) => one.ready && one.resources !== undefined).length ===
        Object.keys(containers).length,
    });
    return find(name, within);
  }

  async function resize(ask: Omit<Ask, 'namespace'>, within = namespace): Promise<ResizeAnswer> {
    const pod = await find(ask.pod, within);
    return resizer.resize(intentOf({ ...ask, namespace: within }, pod));
  }

  const limitOf = (pod: RunningPod, container: string): number => {
    const found = pod.status.containerStatuses?.find(({ name }) => name === container);
    return cluster.realNode.cpuLimit(pod.metadata.uid, found?.containerID ?? '');
  };
  const restarts = ({ status }: RunningPod) =>
    (status.containerStatuses ?? []).map(({ restartCount }) => restartCount);
  const remove = (name: string) => cluster.api.delete('Pod', `${namespace}/${name}`);

  /** The CPU, in millicores, that nobody has asked for. */
  async function freeCpu(): Promise<number> {
    const node = await cluster.api.get<{ status: { allocatable: { cpu: string } } }>('Node', 'real-1');
    const { cpu } = node.status.allocatable;
    const all = cpu.endsWith('m') ? Number.parseInt(cpu, 10) : Number(cpu) * 1_000;
    const pods = await cluster.api.list<RawResizablePod & { kind: string }>('Pod');
    const taken = pods
      .filter(({ spec }) => spec?.nodeName === 'real-1')
      .flatMap((pod) => readResizablePod(pod).containers)
      .reduce((sum, { spec }) => sum + (spec.requests['cpu'] ?? 0), 0);
    return all - taken;
  }

  it('containers of one pod grow and shrink in one patch, and none is restarted', async () => {
    const small = { requests: { cpu: '50m', memory: '32Mi' }, limits: { cpu: '200m', memory: '64Mi' } };
    const spec = {
      initContainers: [
        {
          name: 'proxy',
          image,
          restartPolicy: 'Always',
          command: ['/bin/busybox', 'sleep', '1000000'],
          resources: small,
        },
      ],
    };
    const pod = await run('two', { app: small, log: small }, { spec });
    const sentMs = performance.now();
    const up = await resize({
      pod: 'two',
      to: {
        app: { requests: { cpu: 100, memory: 48 * MIB }, limits: { cpu: 600, memory: 96 * MIB } },
        log: { requests: { cpu: 20 }, limits: { cpu: 100 } },
        proxy: { requests: { cpu: 60 } },
      },
    });
    expect(up).toEqual({ kind: 'resized', isWhole: true, left: null });
    process.stderr.write(`applied ${seconds(sentMs)} s after it was asked for\n`);
    expect([limitOf(pod, 'app'), limitOf(pod, 'log')]).toEqual([600, 100]);
    around = { memoryUsed: new Map([['app', MIB]]) };
    const to = { app: { requests: { cpu: 50, memory: 32 * MIB }, limits: { cpu: 200, memory: 64 * MIB } } };
    expect(await resize({ pod: 'two', to })).toMatchObject({ kind: 'resized', isWhole: false });
    expect(await resize({ pod: 'two', to })).toMatchObject({ kind: 'resized', isWhole: true });
    expect(limitOf(pod, 'app')).toBe(200);
    const after = await find('two');
    expect(restarts(after)).toEqual([0, 0]);
    expect(readResizablePod(after)).toMatchObject({ lastResizedBy: 'spotalis-rightsizing', pending: null });
    await remove('two');
  }, 60_000);

  it('a loan is remembered, given back and forgotten', async () => {
    around = { allocationCovers: () => true };
    const pod = await run('loan', { app: { requests: { cpu: '50m' }, limits: { cpu: '200m' } } });
    const lend: Omit<Ask, 'namespace'> = {
      pod: 'loan',
      to: { app: { limits: { cpu: 500 } } },
      more: { module: 'allocation', remember: { annotation: key, value: '{"app":"200m"}' } },
    };
    expect(await resize(lend)).toMatchObject({ kind: 'resized' });
    expect(limitOf(pod, 'app')).toBe(500);
    expect((await find('loan')).metadata.annotations).toEqual({ [key]: '{"app":"200m"}' });
    const to = { app: { limits: { cpu: 200 } } };
    const more = { module: 'allocation', purpose: 'restore', forget: key } as const;
    expect(await resize({ pod: 'loan', to, more })).toMatchObject({ kind: 'resized' });
    expect(limitOf(pod, 'app')).toBe(200);
    expect((await find('loan')).metadata.annotations).toBeUndefined();
    await remove('loan');
  }, 60_000);

  it('a deferred increase is applied when room comes up, and one that cannot ever be is refused', async () => {
    around = {};
    await run('grows', { app: { requests: { cpu: '50m' } } });
    const filler = (await freeCpu()) - 50;
    await run('filler', { app: { requests: { cpu: `${filler}m` } } });
    const growing = resize({ pod: 'grows', to: { app: { requests: { cpu: 300 } } } });
    const pod = await find('grows');
    await waitFor(
      'it to be deferred',
      () => resizer.stateOf(pod.metadata.uid)?.progress?.kind === 'deferred',
    );
    process.stderr.write(`${JSON.stringify(resizer.stateOf(pod.metadata.uid)?.progress)}\n`);
    await remove('filler');
    expect(await growing).toMatchObject({ kind: 'resized' });
    const never = await resize({ pod: 'grows', to: { app: { requests: { cpu: 1_000_000 } } } });
    process.stderr.write(`${JSON.stringify(never)}\n`);
    expect(never).toMatchObject({ kind: 'held', hold: { reason: 'Refused', by: 'node' } });
    await remove('grows');
  }, 90_000);

  it('a quota, a LimitRange and the validation refuse in words that are understood', async () => {
    around = {};
    const size = { requests: { cpu: '50m' }, limits: { cpu: '200m' } };
    const quota = { hard: { 'requests.cpu': '100m' } };
    const range = { limits: [{ type: 'Container', max: { cpu: '300m' } }] };
    await run('quota', { app: size }, { within: 'short' });
    await run('range', { app: size }, { within: 'bounded' });
    await run('plain', { app: size });
    await cluster.api.apply([
      { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace: 'short' }, spec: quota },
      { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'r', namespace: 'bounded' }, spec: range },
    ] as never);
    await waitFor('the quota to be counted', async () => {
      const { status } = await cluster.api.get<{ status?: { used?: object } }>('ResourceQuota', 'short/q');
      return status?.used !== undefined;
    });
    expect(await resize({ pod: 'quota', to: { app: { requests: { cpu: 150 } } } }, 'short')).toMatchObject({
      hold: { reason: 'Refused', by: 'quota', message: expect.stringContaining('exceeded quota: q') },
    });
    let cpu = 400;
    // The API server may not know the LimitRange yet.
    const bounded = () => resize({ pod: 'range', to: { app: { limits: { cpu: cpu++ } } } }, 'bounded');
    const refusal = await waitFor('the LimitRange to be seen', bounded, {
      until: (answer) => answer.kind === 'held',
    });
    expect(refusal).toMatchObject({ hold: { reason: 'Refused', by: 'limitRange' } });
    const { metadata } = await find('plain');
    const tooMuch = {
      ...metadata,
      namespace,
      containers: [{ name: 'app', resources: { requests: { cpu: '201m' } } }],
      initContainers: [],
      fieldManager: 'spotalis-rightsizing',
    };
    const options = { deadlineMs: 30_000 };
    expect(await resizePod(client, tooMuch, options)).toMatchObject({ kind: 'refused', by: 'validation' });
    expect(await resizePod(client, { ...tooMuch, resourceVersion: '1' }, options)).toMatchObject({
      kind: 'stale',
    });
    expect(await resizePod(client, { ...tooMuch, uid: 'another' }, options)).toEqual({ kind: 'gone' });
    expect(await resizePod(client, { ...tooMuch, name: 'nobody' }, options)).toEqual({ kind: 'gone' });
    const powerless = new ApiClient(
      new Transport({
        credentials: new Credentials({ path: await cluster.kubeconfigFor('default', 'default') }),
        userAgent: 'powerless',
      }),
    );
    expect(await resizePod(powerless, tooMuch, options)).toMatchObject({ kind: 'forbidden' });
    await powerless.transport.close();
    await remove('plain');
  }, 90_000);

  it('a LimitRange adds the limit that a container lacks, which nobody can remove again: the guard holds', async () => {
    const bare = await run('bare', { app: { requests: { cpu: '50m' } } }, { within: 'filled' });
    const limits = [{ type: 'Container', default: { cpu: '300m' }, defaultRequest: { cpu: '50m' } }];
    const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'r', namespace: 'filled' } };
    await cluster.api.apply({ ...range, spec: { limits } } as never);
    const none = { min: {}, max: {}, maxLimitRequestRatio: {}, defaultRequest: {} };
    around = { limitRanges: [{ type: 'Container', ...none, default: { cpu: 300 } }] };
    const ask = { pod: 'bare', to: { app: { requests: { cpu: 60 } } } };
    expect(await resize(ask, 'filled')).toMatchObject({ hold: { reason: 'LimitRangeDefaults' } });
    around = {};
    let cpu = 60;
    // The API server may not know the LimitRange yet.
    const filled = await waitFor('the limit to be there', async () => {
      await resize({ ...ask, to: { app: { requests: { cpu: cpu++ } } } }, 'filled');
      return readResizablePod(await find('bare', 'filled')).containers[0]?.spec.limits['cpu'];
    });
    expect(filled).toBe(300);
    expect(limitOf(bare, 'app')).toBe(300);
    await cluster.api.delete('Pod', 'filled/bare');
  }, 60_000);

  it('a container that waits to be started again gets more before it is', async () => {
    around = {};
    const size = { requests: { cpu: '50m', memory: '32Mi' }, limits: { memory: '64Mi' } };
    const crashing = {
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      containers: [{ name: 'app', image, command: ['/bin/busybox', 'false'], resources: size }],
    };
    const metadata = { name: 'crashing', namespace };
    await cluster.api.apply({ apiVersion: 'v1', kind: 'Pod', metadata, spec: crashing } as never);
    const state = async () => {
      const { status } = await find('crashing');
      return (status.containerStatuses?.[0] as { state?: { waiting?: { reason: string } } } | undefined)
        ?.state?.waiting?.reason;
    };
    await waitFor('it to wait', state, { until: (reason) => reason === 'CrashLoopBackOff' });
    const to = { app: { limits: { memory: 96 * MIB } } };
    const answer = await resize({ pod: 'crashing', to, more: { purpose: 'outOfMemory' } });
    process.stderr.write(`while it waited: ${JSON.stringify(answer)}\n`);
    expect(answer).toMatchObject({ kind: 'resized' });
    await remove('crashing');
  }, 60_000);

  it('a pod that is deleted meanwhile ends its resize', async () => {
    around = {};
    await run('brief', { app: { requests: { cpu: '50m' } } });
    const to = (await freeCpu()) + 60;
    const growing = resize({ pod: 'brief', to: { app: { requests: { cpu: to } } } });
    const { uid } = (await find('brief')).metadata;
    await waitFor('it to be deferred', () => resizer.stateOf(uid)?.progress?.kind === 'deferred');
    await remove('brief');
    expect(await growing).toEqual({ kind: 'gone' });
  }, 60_000);

  it('what a killed leader left deferred is taken back by the next one, as is a memory limit below what is in use', async () => {
    const script = '/bin/busybox dd if=/dev/zero of=/memory/full bs=1M count=60';
    const size = { requests: { cpu: '50m', memory: '32Mi' }, limits: { cpu: '200m', memory: '128Mi' } };
    await run('full', { app: size }, { script });
    // Evidence that is out of date: the kubelet looks for itself.
    around = { memoryUsed: new Map([['app', MIB]]) };
    const full = resize({ pod: 'full', to: { app: { limits: { memory: 48 * MIB } } } });
    const same = { cpu: '50m', memory: '128Mi' };
    await run('sure', { app: { requests: same, limits: same } }, { script });
    const lower = { memory: 48 * MIB };
    const sure = resize({ pod: 'sure', to: { app: { requests: lower, limits: lower } } });

    await run('orphan', { app: { requests: { cpu: '50m' } } });
    const cpu = (await freeCpu()) + 60;
    const start = (name: string, to: Ask['to']) =>
      cluster.startService({
        name,
        script: fileURLToPath(new URL('../../testing/resize-leader.ts', import.meta.url)),
        kubeconfig: cluster.kubeconfig,
        env: { ASK: JSON.stringify({ namespace, pod: 'orphan', to } satisfies Ask) },
      });
    await start('first', { app: { requests: { cpu } } });
    const condition = async () => readResizablePod(await find('orphan')).pending?.reason ?? 'none';
    await waitFor('the first leader to have asked', condition, { until: (reason) => reason === 'Deferred' });
    await cluster.killComponent('first');
    const killedMs = performance.now();
    await start('second', { app: { requests: { cpu: 50 } } });
    const log = () => readFileSync(cluster.component('second').logFile, 'utf8');
    await waitFor('the second leader to lead', () => log().includes('leads'), { timeoutMs: 20_000 });
    await waitFor('the increase to be taken back', condition, {
      timeoutMs: 90_000,
      until: (reason) => reason === 'none',
    });
    process.stderr.write(`taken back ${seconds(killedMs)} s after the leader was killed\n`);
    expect(readResizablePod(await find('orphan')).containers[0]?.spec.requests).toEqual({ cpu: 50 });

    for (const answer of [await full, await sure]) {
      process.stderr.write(`${JSON.stringify(answer)}\n`);
      expect(answer).toMatchObject({ kind: 'takenBack', hold: { reason: 'NotApplied' } });
    }
    const written = { cpu: 50, memory: 128 * MIB };
    await waitFor('the Guaranteed pod to be as before', async () => {
      const { containers, pending, inProgress } = readResizablePod(await find('sure'));
      expect(containers[0]).toMatchObject({
        spec: { requests: written, limits: written },
        actual: { limits: written },
      });
      return pending === null && inProgress === null;
    });
    const after = readResizablePod(await find('full')).containers[0];
    expect(after?.spec.limits).toEqual({ cpu: 200, memory: 128 * MIB });
    for (const name of ['full', 'sure']) expect(restarts(await find(name))).toEqual([0]);
  }, 240_000);
});

const seconds = (since: number) => ((performance.now() - since) / 1_000).toFixed(1);
