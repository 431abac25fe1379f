/** @needs prometheus */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findPrometheus, promtool } from '@spotalis/cluster';
import { json, startUsageServer } from '../../../testing/usage-server.ts';
import { PrometheusUsage } from './prometheus.ts';

const programs = await findPrometheus((line) => process.stderr.write(`${line}\n`));
const CPU = 'container_cpu_usage_seconds_total';
const MEMORY = 'container_memory_working_set_bytes';
const series = (metric: string, pod: string, more: string, values: string) => ({
  series: `${metric}{namespace="shop",pod="${pod}",${more}}`,
  values,
});

('missing' in programs ? describe.skip : describe)('the queries that are sent to Prometheus', () => {
  let dir: string;
  let queries: { readonly cpu: string; readonly memory: string };

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'queries-'));
    const server = await startUsageServer(
      json({ status: 'success', data: { resultType: 'vector', result: [] } }),
    );
    const usage = new PrometheusUsage({ url: server.url, matchers: { cluster: 'one' } });
    await usage.latest(0, 300_000);
    const [cpu = '', memory = ''] = server.asked.map(({ form }) => form.get('query') ?? '');
    queries = { cpu, memory };
    await usage.close();
    await server.close();
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** Prometheus itself says whether the query has these values ten minutes after the start, with a sample each minute. */
  async function expectValues(
    query: string,
    input: readonly object[],
    values: Readonly<Record<string, number>>,
  ): Promise<void> {
    if ('missing' in programs) return;
    const expected = Object.entries(values).map(([pod, value]) => ({
      labels: `{namespace="shop",pod="${pod}",container="app"}`,
      value,
    }));
    const test = {
      interval: '1m',
      input_series: input,
      promql_expr_test: [{ expr: `round(${query}, 0.001)`, eval_time: '10m', exp_samples: expected }],
    };
    // JSON is YAML.
    writeFileSync(join(dir, 'test.yaml'), JSON.stringify({ tests: [test] }));
    expect(await promtool(programs, ['test', 'rules', 'test.yaml'], dir)).toContain('SUCCESS');
  }

  const app = 'container="app",cluster="one"';

  it('do not add up a container and the one that came after it', async () => {
    await expectValues(
      queries.cpu,
      [
        series(CPU, 'web-1', `${app},id="old"`, '0+6x20'),
        series(CPU, 'web-1', `${app},id="new"`, '0+30x20'),
        series(CPU, 'web-2', app, '0+12x20'),
      ],
      { 'web-1': 0.5, 'web-2': 0.2 },
    );
  });

  it('see through the reset of a counter', async () => {
    await expectValues(queries.cpu, [series(CPU, 'web-1', app, '500+6x7 6+6x10')], { 'web-1': 0.1 });
  });

  it('leave out the pod as a whole, its pause container and other clusters', async () => {
    const others = [
      'container="",cluster="one"',
      'container="POD",cluster="one"',
      'container="app",cluster="two"',
    ];
    for (const [metric, query] of [
      [CPU, queries.cpu],
      [MEMORY, queries.memory],
    ] as const)
      await expectValues(
        query,
        others.map((labels) => series(metric, 'web-1', labels, '0+60x20')),
        {},
      );
  });

  it('have the highest memory of the point, and not of the one before', async () => {
    const values = '100 900 100x5 700 100x10';
    await expectValues(queries.memory, [series(MEMORY, 'web-1', app, values)], { 'web-1': 700 });
  });

  it('have nothing of a container that ended before the point', async () => {
    const values = '0+6x3 stale';
    await expectValues(queries.cpu, [series(CPU, 'web-1', app, values)], {});
  });
});
