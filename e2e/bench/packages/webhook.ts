import { bundleServices } from '@spotalis/cluster';
import type { Bench, BenchContext, Findings, Table } from '../bench.ts';
import { slope } from '../statistics.ts';
import { runScript } from './script.ts';

interface Phase {
  readonly target: 'webhook' | 'echo';
  readonly rate: number | 'saturation';
  readonly answers: number;
  readonly failures: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly cpuMsPerAnswer: number;
}

interface Output {
  readonly bodyBytes: number;
  readonly phases: readonly Phase[];
  readonly memory: {
    readonly idleRssMb: number;
    readonly samples: readonly { readonly admissions: number; readonly rssMb: number }[];
  };
}

async function run({ quick, report }: BenchContext): Promise<Findings> {
  await bundleServices();
  const args = quick ? ['--quick'] : [];
  const output = await runScript<Output>('packages/webhook/bench/latency.ts', args, report);
  return {
    baseline: 'a bare node:https server that sends the same bodies back, in a process of its own, in turn.',
    tables: [latencyTable(output), memoryTable(output), slopeTable(output)],
    raw: output,
  };
}

function latencyTable({ phases, bodyBytes }: Output): Table {
  const rows = phases.flatMap((ours) => {
    const echo = phases.find(({ target, rate }) => target === 'echo' && rate === ours.rate);
    if (ours.target !== 'webhook' || echo === undefined) return [];
    return [
      {
        rate:
          typeof ours.rate === 'number' ? `${ours.rate.toLocaleString('en-US')} / s` : 'as many as it can',
        perSecond: ours.perSecond,
        p50: ours.p50Ms,
        p99: ours.p99Ms,
        p999: ours.p999Ms,
        cpu: ours.cpuMsPerAnswer,
        echoPerSecond: echo.perSecond,
        echoP50: echo.p50Ms,
        echoP99: echo.p99Ms,
        echoP999: echo.p999Ms,
        echoCpu: echo.cpuMsPerAnswer,
        ratio: ours.perSecond / echo.perSecond,
        failures: ours.failures,
      },
    ];
  });
  return {
    title: 'One replica under load',
    method: `The bundle with TLS and a real Redis, reviews of ${bodyBytes.toLocaleString('en-US')} bytes over 50 ReplicaSets; the load generator runs on the same machine. At a rate: open loop, timed from when a request was due. As many as it can: 64 under way at once. CPU: user and system time of the process from /proc/PID/stat, on connections that stay open. Ratio: answers per second of the webhook over those of the echo.`,
    columns: [
      { key: 'rate', title: 'Asked for' },
      { key: 'perSecond', title: 'Webhook / s' },
      { key: 'p50', title: 'p50, ms' },
      { key: 'p99', title: 'p99' },
      { key: 'p999', title: 'p99.9' },
      { key: 'cpu', title: 'CPU, ms each' },
      { key: 'echoPerSecond', title: 'Echo / s' },
      { key: 'echoP50', title: 'p50, ms' },
      { key: 'echoP99', title: 'p99' },
      { key: 'echoP999', title: 'p99.9' },
      { key: 'echoCpu', title: 'CPU, ms each' },
      { key: 'ratio', title: 'Webhook / echo' },
      { key: 'failures', title: 'Failures' },
    ],
    rows,
  };
}

function memoryTable({ memory: { idleRssMb, samples } }: Output): Table {
  return {
    title: 'Memory of the webhook',
    method: 'Resident set of the process after so many admissions at full speed, from /proc/PID/status.',
    columns: [
      { key: 'admissions', title: 'Admissions' },
      { key: 'rss', title: 'RSS, MiB' },
      { key: 'ratio', title: 'Of idle' },
    ],
    rows: [{ admissions: 0, rssMb: idleRssMb }, ...samples].map(({ admissions, rssMb }) => ({
      admissions,
      rss: rssMb,
      ratio: rssMb / idleRssMb,
    })),
  };
}

function slopeTable({ memory: { idleRssMb, samples } }: Output): Table {
  const last = samples.slice(Math.floor(samples.length / 2));
  return {
    title: 'What stays in memory',
    method:
      'Least squares over the second half of the samples above: growth of the resident set with the number of admissions. Flat is 0.',
    columns: [
      { key: 'admissions', title: 'Admissions' },
      { key: 'idle', title: 'RSS before, MiB' },
      { key: 'rss', title: 'RSS after, MiB' },
      { key: 'growth', title: 'Growth, MiB per 100,000' },
    ],
    rows: [
      {
        admissions: samples.at(-1)?.admissions ?? 0,
        idle: idleRssMb,
        rss: samples.at(-1)?.rssMb ?? 0,
        growth: slope(last.map(({ admissions, rssMb }) => [admissions / 100_000, rssMb])),
      },
    ],
  };
}

export const webhookBench: Bench = { name: 'webhook', title: 'The webhook alone', run };
