/** @needs control-plane real-node prometheus metrics-server */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Cluster,
  findMetricsServer,
  findPrometheus,
  type Prometheus,
  realNodeOnly,
  startCluster,
  startMetricsServer,
  startPrometheus,
  waitFor,
  whyNoRealNode,
} from '@spotalis/cluster';
import { ApiClient, Credentials, Transport } from '@spotalis/kube';
import { json, startUsageServer, type UsageServer } from '../../../testing/usage-server.ts';
import { CustomUsage } from './custom.ts';
import { MetricsServerUsage } from './metrics-server.ts';
import { PrometheusUsage } from './prometheus.ts';
import type { ContainerUsage } from './provider.ts';
import type { UsageReading } from './reading.ts';

const MIB = 2 ** 20;
const MINUTE_MS = 60_000;
/** The one image that every real node has: BusyBox. */
const image = 'registry.k8s.io/pause:3.10';
const namespace = 'measured';
const pod = 'worker';
const LIMIT = 200;
const HELD = 64 * MIB;

const say = (line: string) => process.stderr.write(`${line}\n`);
const programs = await findPrometheus(say);
const metricsServer = await findMetricsServer(say);
const missing =
  (await whyNoRealNode()) ??
  [programs, metricsServer].map((one) => ('missing' in one ? one.missing : undefined)).find(Boolean);
if (missing !== undefined) say(`no real usage on this machine: ${missing}`);

(missing === undefined ? describe : describe.skip)('the usage of real containers', () => {
  let cluster: Cluster;
  let prometheus: Prometheus;
  let client: ApiClient;
  const open: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    if ('missing' in programs || 'missing' in metricsServer) throw new Error('unreachable');
    cluster = await startCluster({ realNode: true, spotNodes: 0, onDemandNodes: 0 });
    await cluster.api.apply([
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: namespace, annotations: realNodeOnly },
      },
    ]);
    await cluster.api.apply(worker());
    prometheus = await startPrometheus({ programs, containersOf: cluster });
    await startMetricsServer(cluster, metricsServer);
    const credentials = new Credentials({ path: cluster.kubeconfig });
    client = new ApiClient(new Transport({ credentials, userAgent: 'usage-test' }));
  }, 900_000);

  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
  });

  afterAll(async () => {
    await client?.transport.close();
    await prometheus?.stop();
    await cluster?.stop();
  });

  /** Waits for a reading in which the burner burns and the holder holds. */
  const measured = (read: () => Promise<UsageReading<readonly ContainerUsage[]>>) =>
    waitFor(
      'both containers to be measured',
      async () => {
        const reading = await read();
        if (reading.kind === 'failed') throw new Error(reading.problem.message);
        const one = (container: string) =>
          reading.value.find((each) => each.namespace === namespace && each.container === container);
        const [burner, holder] = [one('burner'), one('holder')];
        const cpu = burner?.cpu.at(-1)?.value ?? 0;
        const memory = holder?.memory.at(-1)?.value ?? 0;
        return cpu > LIMIT / 10 && memory >= HELD ? { cpu, memory, burner, holder } : undefined;
      },
      { timeoutMs: 150_000, intervalMs: 2_000 },
    );

  /** On a busy machine the burner gets less than its limit; nothing makes it more, but how CPU is counted. */
  function expectKnown({ cpu, memory }: { readonly cpu: number; readonly memory: number }): void {
    say(`${Math.round(cpu)} millicores, ${Math.round(memory / MIB)} MiB`);
    expect(cpu).toBeLessThan(LIMIT * 1.5);
    expect(memory).toBeLessThan(HELD * 1.5);
  }

  const fromPrometheus = (options: object = {}): PrometheusUsage => {
    const usage = new PrometheusUsage({ url: prometheus.url, ...options });
    open.push(usage);
    return usage;
  };

  it('is seen through Prometheus, now and in the past', async () => {
    const usage = fromPrometheus();
    const seen = await measured(() => usage.latest(Date.now(), MINUTE_MS));
    expectKnown(seen);
    expect(seen.burner).toMatchObject({ namespace, pod, container: 'burner' });
    const past = await measured(async () => {
      const nowMs = Date.now();
      const reading = await usage.past(namespace, {
        fromMs: nowMs - 60 * MINUTE_MS,
        toMs: nowMs,
        resolutionMs: MINUTE_MS,
      });
      return reading.kind === 'failed' ? reading : { ...reading, value: reading.value.usage };
    });
    expectKnown(past);
    expect((past.burner?.cpu.at(-1)?.endMs ?? 1) % MINUTE_MS).toBe(0);
  }, 360_000);

  it('is seen through metrics-server', async () => {
    const usage = new MetricsServerUsage({ client });
    const seen = await measured(async () => {
      const nowMs = Date.now();
      const sampled = await usage.sample(nowMs);
      return sampled.kind === 'failed' ? sampled : usage.latest(nowMs, 5 * MINUTE_MS);
    });
    expectKnown(seen);
    expect(seen.holder).toMatchObject({ namespace, pod, container: 'holder' });
  }, 180_000);

  it('is seen through a custom server, here one that asks Prometheus for percentiles', async () => {
    const server = await startUsageServer((asked, response) => {
      void percentiles(prometheus, asked.url.searchParams).then((body) => json(body)(asked, response));
    });
    open.push(server satisfies UsageServer);
    const usage = new CustomUsage({ url: server.url });
    open.push(usage);
    const name = { namespace, pod };
    const containers = [
      { ...name, container: 'burner' },
      { ...name, container: 'holder' },
    ];
    const { cpu, memory } = await waitFor(
      'percentiles of both containers',
      async () => {
        const [burner, holder] = await usage.read(containers, 2 * MINUTE_MS);
        if (burner?.kind !== 'read' || holder?.kind !== 'read') return undefined;
        const seen = { cpu: burner.value?.cpu.p90 ?? 0, memory: holder.value?.memory.p90 ?? 0 };
        return seen.cpu > LIMIT / 10 && seen.memory >= HELD ? seen : undefined;
      },
      { timeoutMs: 150_000, intervalMs: 2_000 },
    );
    expectKnown({ cpu, memory });
  }, 180_000);

  it('has no effect and a reason where Prometheus refuses', async () => {
    const refused = await fromPrometheus({ matchers: { 'no-label': 'x' } }).latest(Date.now(), MINUTE_MS);
    expect(refused).toMatchObject({ kind: 'failed', problem: { reason: 'Refused' } });
    expect(refused.kind === 'failed' && refused.problem.message).toMatch(
      /answers 400.*parse error.*no-label/,
    );
    const nowMs = Date.now();
    const dayMs = 24 * 60 * MINUTE_MS;
    const span = { fromMs: nowMs - dayMs, toMs: nowMs, resolutionMs: 1_000 };
    const tooFine = await fromPrometheus().past(namespace, span);
    expect(tooFine.kind === 'failed' && tooFine.problem.message).toMatch(/11,000 points per timeseries/);
  }, 60_000);

  it('is unreachable while Prometheus is gone, and the past is there when it is back', async () => {
    const usage = fromPrometheus();
    await measured(() => usage.latest(Date.now(), MINUTE_MS));
    await prometheus.kill();
    const gone = await usage.latest(Date.now(), MINUTE_MS);
    expect(gone).toMatchObject({ kind: 'failed', problem: { reason: 'Unreachable' } });
    const goneMs = Date.now();
    await prometheus.restart();
    expectKnown(await measured(() => usage.latest(goneMs, 2 * MINUTE_MS)));
    expectKnown(await measured(() => usage.latest(Date.now(), MINUTE_MS)));
  }, 360_000);

  it('fails where metrics-server is gone, and the next samples are good when it is back', async () => {
    const usage = new MetricsServerUsage({ client });
    await cluster.killComponent('metrics-server');
    const gone = await waitFor('a sample to fail', async () => {
      const reading = await usage.sample(Date.now());
      return reading.kind === 'failed' ? reading.problem : undefined;
    });
    say(gone.message);
    expect(['Refused', 'Unreachable', 'Late']).toContain(gone.reason);
    expect(await usage.latest(Date.now(), MINUTE_MS)).toMatchObject({ kind: 'failed' });
    await cluster.restartComponent('metrics-server');
    // At first it answers with an empty list.
    await waitFor(
      'a point with what the holder holds',
      async () => {
        const nowMs = Date.now();
        await usage.sample(nowMs);
        const point = await usage.latest(nowMs, MINUTE_MS);
        return point.kind === 'read' && point.value.some(({ container }) => container === 'holder');
      },
      { timeoutMs: 120_000, intervalMs: 1_000 },
    );
  }, 240_000);
});

/** One container that burns all the CPU it may have, and one that holds memory. */
function worker() {
  const container = (name: string, script: string, limits: object) => ({
    name,
    image,
    command: ['/bin/busybox', 'sh', '-c', script],
    resources: { requests: { cpu: '10m', memory: '16Mi' }, limits },
    volumeMounts: [{ name: 'memory', mountPath: `/${name}`, subPath: name }],
  });
  const fill = `/bin/busybox dd if=/dev/zero of=/holder/held bs=1M count=${HELD / MIB}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: pod, namespace },
    spec: {
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      securityContext: { runAsUser: 0 },
      volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }],
      containers: [
        container('burner', 'while :; do :; done', { cpu: `${LIMIT}m`, memory: '64Mi' }),
        container('holder', `${fill} && while :; do /bin/busybox sleep 3600; done`, {
          cpu: '100m',
          memory: '256Mi',
        }),
      ],
    },
  };
}

/** What somebody writes in an afternoon for a source of their own. */
async function percentiles(prometheus: Prometheus, asked: URLSearchParams): Promise<object> {
  const of = (name: string) => asked.get(name) ?? '';
  const selector = `{namespace="${of('namespace')}",pod="${of('pod')}",container="${of('container')}"}`;
  const window = `[${of('window')}:15s]`;
  const at = async (percentile: number, expression: string, factor: number): Promise<number> => {
    const query = `quantile_over_time(${percentile}, (max by (container) (${expression}))${window})`;
    const answer = await fetch(`${prometheus.url}/api/v1/query?${String(new URLSearchParams({ query }))}`);
    const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } };
    return Number(data.result[0]?.value[1] ?? 0) * factor;
  };
  const all = async (expression: string, factor: number) => ({
    p50: await at(0.5, expression, factor),
    p90: await at(0.9, expression, factor),
    p99: await at(0.99, expression, factor),
  });
  return {
    cpu: await all(`rate(container_cpu_usage_seconds_total${selector}[1m])`, 1000),
    memory: await all(`container_memory_working_set_bytes${selector}`, 1),
    samples: 8,
    span: of('window'),
  };
}
