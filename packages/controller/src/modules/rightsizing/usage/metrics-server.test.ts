import { describe, expect, it } from '@jest/globals';
import { ApiError, ConnectionError, DeadlineError } from '@spotalis/kube';
import * as fc from 'fast-check';
import { MetricsServerUsage, readPodMetrics } from './metrics-server.ts';
import { DropCount } from './reading.ts';

const numRuns = Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000);
const MINUTE_MS = 60_000;
const START_MS = Date.parse('2026-01-01T00:00:00Z');
const at = (minute: number): number => START_MS + minute * MINUTE_MS;

/** As metrics-server 0.9 answers. */
const pod = (minute: number, cpu = '250m', memory = '65536Ki', name = 'web-1') => ({
  metadata: { name, namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' },
  timestamp: new Date(at(minute)).toISOString(),
  window: '15.2s',
  containers: [{ name: 'app', usage: { cpu, memory } }],
});

/** Each call of `list` gets the next answer. */
function usageOf(answers: unknown[], namespaces?: readonly string[]) {
  const asked: (string | undefined)[] = [];
  const list = (_of: object, { namespace }: { namespace?: string } = {}) => {
    asked.push(namespace);
    const answer = answers.shift();
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve({ items: answer, resourceVersion: '' });
  };
  const client = { list: list as never };
  return { asked, usage: new MetricsServerUsage({ client, ...(namespaces && { namespaces }) }) };
}

describe('usage from metrics-server', () => {
  it('is the mean of the CPU and the highest memory of the samples of a point', async () => {
    const answers = [[pod(1, '100m', '10Mi')], [pod(2, '300m', '30Mi')], [pod(3, '200m', '20Mi')]];
    const { usage, asked } = usageOf(answers);
    for (const minute of [1, 2, 3]) expect(await usage.sample(at(minute))).toMatchObject({ kind: 'read' });
    expect(await usage.latest(at(5), 5 * MINUTE_MS)).toEqual({
      kind: 'read',
      dropped: {},
      value: [
        {
          namespace: 'shop',
          pod: 'web-1',
          container: 'app',
          cpu: [{ endMs: at(5), value: 200 }],
          memory: [{ endMs: at(5), value: 30 * 2 ** 20 }],
        },
      ],
    });
    expect(asked).toEqual([undefined, undefined, undefined]);
  });

  it('lacks a container with one sample in the point', async () => {
    const { usage } = usageOf([[pod(1)], [pod(2), pod(2, '1', '1Mi', 'new')]]);
    await usage.sample(at(1));
    await usage.sample(at(2));
    const read = await usage.latest(at(5), 5 * MINUTE_MS);
    expect(read.kind === 'read' && read.value.map((one) => one.pod)).toEqual(['web-1']);
  });

  it('has a container with one sample in a point of one minute', async () => {
    const { usage } = usageOf([[pod(1)]]);
    await usage.sample(at(1));
    expect(await usage.latest(at(1), MINUTE_MS)).toMatchObject({ value: [{ pod: 'web-1' }] });
  });

  it('takes what was measured once for one sample', async () => {
    const { usage } = usageOf([[pod(1)], [pod(1)]]);
    await usage.sample(at(1));
    expect(await usage.sample(at(2))).toMatchObject({ dropped: { Duplicate: 1 } });
    expect(await usage.latest(at(5), 5 * MINUTE_MS)).toMatchObject({ value: [] });
  });

  it('fails where everything is old, and leaves one old sample out', async () => {
    const { usage } = usageOf([[pod(0)], [pod(0), pod(20, '1', '1Mi', 'new')]]);
    expect(await usage.sample(at(20))).toMatchObject({ kind: 'failed', problem: { reason: 'Stale' } });
    expect(await usage.sample(at(21))).toMatchObject({ kind: 'read', dropped: { OutsideSpan: 1 } });
  });

  it('has no point, and the reason, where samples are missing', async () => {
    const gone = new ApiError({ status: 503, body: { message: 'service unavailable' }, request: 'GET /x' });
    const { usage } = usageOf([[pod(1)], gone]);
    await usage.sample(at(1));
    await usage.sample(at(2));
    const read = await usage.latest(at(5), 5 * MINUTE_MS);
    expect(read).toMatchObject({ kind: 'failed', problem: { reason: 'Refused' } });
    expect(read.kind === 'failed' && read.problem.message).toContain('service unavailable');
  });

  it.each([
    [new ApiError({ status: 404, body: {}, request: 'GET /x' }), 'Refused'],
    [new DeadlineError('GET /x', 1), 'Late'],
    [new ConnectionError('GET /x', new Error('reset')), 'Unreachable'],
    [new TypeError('no object'), 'Malformed'],
    ['no list', 'Malformed'],
  ])('fails with a reason: %s', async (answer, reason) => {
    const { usage } = usageOf([answer]);
    expect(await usage.sample(at(1))).toMatchObject({ kind: 'failed', problem: { reason } });
  });

  it('fails where the whole cluster has none, as after a start of metrics-server', async () => {
    const { usage } = usageOf([[]]);
    expect(await usage.sample(at(1))).toMatchObject({ kind: 'failed', problem: { reason: 'Partial' } });
    expect(await usage.latest(at(1), MINUTE_MS)).toMatchObject({ kind: 'failed' });
    const scoped = usageOf([[]], ['empty']);
    expect(await scoped.usage.sample(at(1))).toMatchObject({ kind: 'read' });
  });

  it('is one LIST for each namespace where rights are, and half of them is no sample', async () => {
    const broken = new ConnectionError('GET /x', new Error('reset'));
    const { usage, asked } = usageOf([[pod(1)], [], [pod(2)], broken], ['shop', 'bank']);
    await usage.sample(at(1));
    expect(await usage.sample(at(2))).toMatchObject({ kind: 'failed' });
    expect(asked).toEqual(['shop', 'bank', 'shop', 'bank']);
    expect(await usage.latest(at(2), MINUTE_MS)).toMatchObject({ kind: 'failed' });
  });

  it('forgets what is older than the longest point', async () => {
    const { usage } = usageOf([[pod(1)], [pod(2)], [pod(30)], []]);
    for (const minute of [1, 2, 30]) await usage.sample(at(minute));
    expect(await usage.latest(at(5), 5 * MINUTE_MS)).toMatchObject({ kind: 'failed' });
  });
});

describe('PodMetrics', () => {
  it('leave out a container whose amounts are none, and keep its neighbours', () => {
    const drops = new DropCount();
    const { metadata, timestamp } = pod(1);
    const containers = [
      { name: 'app', usage: { cpu: '123456789n', memory: '1Gi' } },
      { name: 'odd', usage: { cpu: 'much', memory: '1Gi' } },
      { name: 'negative', usage: { cpu: '-1', memory: '1Gi' } },
      { name: 'huge', usage: { cpu: '1', memory: '9999Ei' } },
      { name: 'empty' },
      null,
    ];
    const read = readPodMetrics({ metadata, timestamp, containers }, drops);
    expect(read).toMatchObject([{ container: 'app', memory: 2 ** 30, measuredMs: at(1) }]);
    expect(read[0]?.cpu).toBeCloseTo(123.456789);
    expect(drops.counts).toEqual({ NotANumber: 3, OutOfRange: 2, Unlabelled: 1 });
  });

  it('are read without a throw, whatever JSON they are', () => {
    const any = fc.oneof(
      fc.jsonValue(),
      fc.record({
        metadata: fc.jsonValue(),
        timestamp: fc.jsonValue(),
        containers: fc.array(fc.jsonValue()),
      }),
      fc.record({
        metadata: fc.constant({ name: 'web-1', namespace: 'shop' }),
        timestamp: fc.string(),
        containers: fc.array(
          fc.record({
            name: fc.constant('app'),
            usage: fc.record({ cpu: fc.jsonValue(), memory: fc.string() }),
          }),
        ),
      }),
    );
    fc.assert(
      fc.property(any, (item) => {
        for (const { cpu, memory } of readPodMetrics(item, new DropCount()))
          expect(Number.isFinite(cpu) && cpu >= 0 && Number.isFinite(memory) && memory >= 0).toBe(true);
      }),
      { numRuns },
    );
  });
});
