import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { json, silence, startUsageServer, text, type UsageServer } from '../../../testing/usage-server.ts';
import { CustomUsage, readStatistics } from './custom.ts';

const numRuns = Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000);
const DAY_MS = 86_400_000;
const percentiles = { p50: 100, p90: 200, p99: 300 };
const answer = { cpu: percentiles, memory: percentiles, samples: 1440, span: '24h', memoryPeak: 350 };
const web = (number: number) => ({ namespace: 'shop', pod: `web-${number}`, container: 'app' });

describe('usage from a custom provider', () => {
  let server: UsageServer;
  let usage: CustomUsage;
  beforeEach(async () => {
    server = await startUsageServer(json(answer));
    usage = new CustomUsage({ url: `${server.url}/usage?tenant=a` });
  });
  afterEach(async () => {
    await usage.close();
    await server.close();
  });

  it('is asked for by one GET for each container', async () => {
    expect(await usage.read([web(1)], DAY_MS)).toEqual([
      {
        kind: 'read',
        dropped: {},
        value: {
          ...web(1),
          cpu: percentiles,
          memory: percentiles,
          samples: 1440,
          spanMs: DAY_MS,
          memoryPeak: 350,
        },
      },
    ]);
    const [asked] = server.asked;
    expect(asked?.method).toBe('GET');
    expect(asked?.url.pathname).toBe('/usage');
    expect(Object.fromEntries(asked?.url.searchParams ?? [])).toEqual({
      tenant: 'a',
      namespace: 'shop',
      pod: 'web-1',
      container: 'app',
      window: '24h',
    });
  });

  it('is asked for at most ten containers at a time, and answered in order', async () => {
    const held: (() => void)[] = [];
    server.reply = (asked, response) => {
      const samples = Number(asked.url.searchParams.get('pod')?.slice('web-'.length));
      held.push(() => json({ ...answer, samples })(asked, response));
      // Whoever asked for eleven at a time would have asked for them by now.
      if (held.length === 10) for (const release of held.splice(0)) release();
    };
    const containers = Array.from({ length: 40 }, (_, index) => web(index));
    const readings = await usage.read(containers, DAY_MS);
    const samples = readings.map((one) => one.kind === 'read' && one.value?.samples);
    expect(samples).toEqual(containers.map((_, index) => index));
    expect(server.mostAtOnce).toBe(10);
  });

  it('is null for a container that the server does not know', async () => {
    server.reply = text('', 404);
    expect(await usage.read([web(1)], DAY_MS)).toEqual([{ kind: 'read', value: null, dropped: {} }]);
  });

  it('fails for one container without a word on the others', async () => {
    server.reply = (asked, response) =>
      asked.url.searchParams.get('pod') === 'web-1'
        ? json({ ...answer, cpu: { p50: 3, p90: 2, p99: 1 } })(asked, response)
        : json(answer)(asked, response);
    const [bad, good] = await usage.read([web(1), web(2)], DAY_MS);
    expect(bad).toMatchObject({ kind: 'failed', problem: { reason: 'Malformed' } });
    expect(bad?.kind === 'failed' && bad.problem.message).toMatch(
      /cpu must have p50 <= p90 <= p99: \{"cpu".*asked: shop\/web-1, container app/,
    );
    expect(good).toMatchObject({ kind: 'read' });
  });

  it('gives up on a server that does not answer', async () => {
    await usage.close();
    usage = new CustomUsage({ url: server.url, deadlineMs: 50 });
    server.reply = silence;
    const containers = Array.from({ length: 100 }, (_, index) => web(index));
    const readings = await usage.read(containers, DAY_MS);
    expect(readings).toHaveLength(100);
    for (const one of readings) expect(one).toMatchObject({ kind: 'failed', problem: { reason: 'Late' } });
    expect(server.asked.length).toBeLessThan(30);
  });
});

describe('statistics', () => {
  it.each([
    [null, 'no object'],
    [{ ...answer, memory: undefined }, 'memory must have p50, p90 and p99 in bytes'],
    [{ ...answer, cpu: { p50: 1, p90: 2, p99: 1e300 } }, 'cpu must have p50, p90 and p99 in millicores'],
    [{ ...answer, cpu: { p50: -1, p90: 2, p99: 3 } }, 'cpu must have'],
    [{ ...answer, samples: 1.5 }, 'samples must be'],
    [{ ...answer, span: 'a day' }, 'span must be'],
    [{ ...answer, memoryPeak: '1Gi' }, 'memoryPeak must be'],
  ])('say what is wrong: %j', (wrong, problem) => {
    expect(readStatistics(wrong)).toEqual(expect.stringContaining(problem));
  });

  it('need neither a span nor a peak', () => {
    const { span: _span, memoryPeak: _peak, ...bare } = answer;
    expect(readStatistics(bare)).toMatchObject({ spanMs: null, memoryPeak: null });
  });

  it('are in order and finite, whatever JSON comes', () => {
    const number = fc.oneof(fc.double(), fc.integer(), fc.jsonValue());
    const some = fc.record({ p50: number, p90: number, p99: number });
    const near = fc.record({ cpu: some, memory: some, samples: number, span: fc.jsonValue() });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), near), (any) => {
        const read = readStatistics(any);
        if (typeof read === 'string') return;
        for (const { p50, p90, p99 } of [read.cpu, read.memory])
          expect(0 <= p50 && p50 <= p90 && p90 <= p99 && Number.isFinite(p99)).toBe(true);
      }),
      { numRuns },
    );
  });
});
