import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Asked, json, startUsageServer, type UsageServer } from '../../../testing/usage-server.ts';
import { PrometheusUsage } from './prometheus.ts';

const MINUTE_MS = 60_000;
const RESOLUTION_MS = 5 * MINUTE_MS;
const END_MS = Date.parse('2026-01-01T00:00:00Z');
const success = (data: unknown) => ({ status: 'success', data });
const isMemory = ({ form }: Asked) => form.get('query')?.includes('memory') === true;
const labels = (pod: string, container = 'app') => ({ namespace: 'shop', pod, container });
const seconds = (ms: number) => ms / 1000;

describe('usage from Prometheus', () => {
  let server: UsageServer;
  let usage: PrometheusUsage;
  beforeEach(async () => {
    server = await startUsageServer((asked, response) => {
      const value = [seconds(END_MS), isMemory(asked) ? '1048576' : '0.25'];
      const result = [{ metric: labels('web-1'), value }];
      json(success({ resultType: 'vector', result }))(asked, response);
    });
    usage = new PrometheusUsage({ url: server.url, matchers: { cluster: 'a"b' } });
  });
  afterEach(async () => {
    await usage.close();
    await server.close();
  });
  const latest = () => usage.latest(END_MS, RESOLUTION_MS);

  it('takes one query for each resource and point', async () => {
    expect(await latest()).toEqual({
      kind: 'read',
      dropped: {},
      value: [
        {
          ...labels('web-1'),
          cpu: [{ endMs: END_MS, value: 250 }],
          memory: [{ endMs: END_MS, value: 2 ** 20 }],
        },
      ],
    });
    expect(server.asked.map(({ form }) => Object.fromEntries(form))).toEqual([
      {
        query:
          'max by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{container!="",container!="POD",cluster="a\\"b"}[5m]))',
        time: String(seconds(END_MS)),
        timeout: '30s',
      },
      expect.objectContaining({
        query:
          'max by (namespace, pod, container) (max_over_time(container_memory_working_set_bytes{container!="",container!="POD",cluster="a\\"b"}[5m]))',
      }),
    ]);
  });

  it('leaves out what is no amount, and takes the larger of two', async () => {
    const now = seconds(END_MS);
    const result = [
      { metric: labels('web-1'), value: [now, '1'] },
      { metric: labels('web-1'), value: [now, '2'] },
      { metric: labels('web-2'), value: [now, 'NaN'] },
      { metric: labels('web-3'), value: [now - 300, '3'] },
      { metric: { pod: 'web-4' }, value: [now, '3'] },
    ];
    server.reply = json(success({ resultType: 'vector', result }));
    const read = await latest();
    expect(read).toMatchObject({
      value: [{ pod: 'web-1', cpu: [{ value: 2000 }], memory: [{ value: 2 }] }],
      dropped: { Duplicate: 2, NotANumber: 2, OutsideSpan: 2, Unlabelled: 2 },
    });
    expect(read.kind === 'read' && read.value).toHaveLength(1);
  });

  it('gives nothing where one of the two queries fails', async () => {
    const cpu = server.reply;
    server.reply = (asked, response) =>
      isMemory(asked) ? json({ status: 'error' }, 503)(asked, response) : cpu(asked, response);
    expect(await latest()).toMatchObject({ kind: 'failed', problem: { reason: 'Refused' } });
  });

  it('gives nothing where Prometheus warns, and says of which query', async () => {
    const warnings = ['store 10.0.0.7 is unavailable'];
    server.reply = json({ ...success({ resultType: 'vector', result: [] }), warnings });
    const read = await latest();
    expect(read).toMatchObject({ kind: 'failed', problem: { reason: 'Partial' } });
    expect(read.kind === 'failed' && read.problem.message).toMatch(
      /warns: store 10\.0\.0\.7 is unavailable \(asked: max by /,
    );
  });

  it('gives nothing, and an excerpt, where the answer is something else', async () => {
    server.reply = json({ hello: 'world' });
    const read = await latest();
    expect(read).toMatchObject({ kind: 'failed', problem: { reason: 'Malformed' } });
    expect(read.kind === 'failed' && read.problem.message).toContain('{"hello":"world"}');
  });

  describe('of the past', () => {
    const dayMs = 24 * 60 * MINUTE_MS;
    const span = { fromMs: END_MS - dayMs + 1, toMs: END_MS + 1, resolutionMs: RESOLUTION_MS };
    let pods: readonly string[];
    let containersOfPod: number;
    let owners: readonly object[];
    let chunks: number[];

    beforeEach(() => {
      pods = ['web-1'];
      containersOfPod = 1;
      owners = [];
      chunks = [];
      server.reply = (asked, response) => {
        const { form, url } = asked;
        if (url.pathname.endsWith('/values')) return json(success(pods))(asked, response);
        if (url.pathname.endsWith('/query'))
          return json(success({ resultType: 'vector', result: owners }))(asked, response);
        const [, anyOf = ''] = /pod=~"([^"]*)"/.exec(form.get('query') ?? '') ?? [];
        const regex = new RegExp(`^(?:${anyOf})$`);
        const asks = pods.filter((pod) => regex.test(pod));
        if (!isMemory(asked)) chunks.push(asks.length);
        const values = [
          [seconds(END_MS - RESOLUTION_MS), '1'],
          [seconds(END_MS), '2'],
        ];
        const result = asks.flatMap((pod) =>
          Array.from({ length: containersOfPod }, (_, index) => ({
            metric: labels(pod, `c${index}`),
            values,
          })),
        );
        json(success({ resultType: 'matrix', result }))(asked, response);
      };
    });

    it('is read by ranges that end where points end', async () => {
      owners = [
        { metric: { pod: 'web-1', owner_kind: 'ReplicaSet', owner_name: 'web-7d9f8' }, value: [0, '1'] },
      ];
      expect(await usage.past('shop', span)).toEqual({
        kind: 'read',
        dropped: {},
        value: {
          usage: [
            {
              ...labels('web-1', 'c0'),
              cpu: [
                { endMs: END_MS - RESOLUTION_MS, value: 1000 },
                { endMs: END_MS, value: 2000 },
              ],
              memory: [
                { endMs: END_MS - RESOLUTION_MS, value: 1 },
                { endMs: END_MS, value: 2 },
              ],
            },
          ],
          owners: [{ pod: 'web-1', kind: 'ReplicaSet', name: 'web-7d9f8' }],
        },
      });
      const [names, range] = server.asked;
      expect(names?.url.searchParams.get('match[]')).toContain('namespace="shop"');
      expect(Object.fromEntries(range?.form ?? [])).toMatchObject({
        start: String(seconds(END_MS - dayMs + RESOLUTION_MS)),
        end: String(seconds(END_MS)),
        step: '300',
      });
    });

    it('is empty without a question where no point can have ended', async () => {
      const short = { fromMs: END_MS, toMs: END_MS + 1, resolutionMs: RESOLUTION_MS };
      expect(await usage.past('shop', short)).toMatchObject({ value: { usage: [], owners: [] } });
      expect(server.asked).toEqual([]);
    });

    it('is read a thousand series at a time', async () => {
      pods = Array.from({ length: 900 }, (_, index) => `web-${index}`);
      containersOfPod = 8;
      const read = await usage.past('shop', span);
      expect(read.kind === 'read' && read.value.usage.length).toBe(7_200);
      // Nobody knows the number of containers before the first answer.
      expect(chunks).toEqual([250, 125, 125, 125, 125, 125, 25]);
    });

    it('is asked for in smaller pieces where an answer is too large', async () => {
      await usage.close();
      usage = new PrometheusUsage({ url: server.url, maxBytes: 16_384 });
      pods = Array.from({ length: 300 }, (_, index) => `web-${index}`);
      const read = await usage.past('shop', span);
      expect(read.kind === 'read' && read.value.usage.length).toBe(300);
      expect(read).toMatchObject({ dropped: {} });
    });

    it('fails where a single pod is too much', async () => {
      await usage.close();
      usage = new PrometheusUsage({ url: server.url, maxBytes: 100 });
      expect(await usage.past('shop', span)).toMatchObject({ problem: { reason: 'TooLarge' } });
    });

    it('takes a name for a name, and no regular expression', async () => {
      pods = ['web.1', 'web-1', 'x|.*', '"'];
      const read = await usage.past('shop', span);
      expect(read.kind === 'read' && read.value.usage.map((one) => one.pod)).toEqual(['web.1', 'web-1']);
      expect(server.asked[1]?.form.get('query')).toContain('pod=~"web[.]1|web-1"');
    });
  });
});
