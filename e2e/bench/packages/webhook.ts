import { bundleServices } from '@spotalis/cluster';
import type { Bench, BenchContext, Findings, Table } from '../bench.ts';
import { median, slope, sum } from '../statistics.ts';
import { spread } from '../table.ts';
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
    readonly filesMb: number;
    readonly echoRssMb: number;
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

type Measure = 'perSecond' | 'p50Ms' | 'p99Ms' | 'p999Ms' | 'cpuMsPerAnswer' | 'failures';

/** What the rounds of each target and rate found. */
class Rounds {
  readonly #phases: readonly Phase[];

  constructor(phases: readonly Phase[]) {
    this.#phases = phases;
  }

  get count(): number {
    return this.values('webhook', 'saturation', 'perSecond').length;
  }

  get rates(): ReadonlySet<Phase['rate']> {
    return new Set(this.#phases.map(({ rate }) => rate));
  }

  values(target: Phase['target'], rate: Phase['rate'], measure: Measure): number[] {
    return this.#phases
      .filter((phase) => phase.target === target && phase.rate === rate)
      .map((phase) => phase[measure]);
  }

  median(...which: Parameters<Rounds['values']>): number {
    return median(this.values(...which));
  }

  spread(...which: Parameters<Rounds['values']>): string {
    return spread(this.values(...which));
  }
}

function latencyTable({ phases, bodyBytes }: Output): Table {
  const rounds = new Rounds(phases);
  const rows = [...rounds.rates].map((rate) => ({
    rate: typeof rate === 'number' ? `${rate.toLocaleString('en-US')} / s` : 'as many as it can',
    perSecond: rounds.median('webhook', rate, 'perSecond'),
    p50: rounds.median('webhook', rate, 'p50Ms'),
    p99: rounds.spread('webhook', rate, 'p99Ms'),
    p999: rounds.median('webhook', rate, 'p999Ms'),
    cpu: rounds.median('webhook', rate, 'cpuMsPerAnswer'),
    echoPerSecond: rounds.median('echo', rate, 'perSecond'),
    echoP50: rounds.median('echo', rate, 'p50Ms'),
    echoP99: rounds.spread('echo', rate, 'p99Ms'),
    echoP999: rounds.median('echo', rate, 'p999Ms'),
    echoCpu: rounds.median('echo', rate, 'cpuMsPerAnswer'),
    ratio: rounds.median('webhook', rate, 'perSecond') / rounds.median('echo', rate, 'perSecond'),
    failures: sum(rounds.values('webhook', rate, 'failures')),
  }));
  return {
    title: 'One replica under load',
    method: `The bundle with TLS and a real Redis, reviews of ${bodyBytes.toLocaleString('en-US')} bytes over 50 ReplicaSets, on connections that were open before and stay so; the load generator runs on the same machine. At a rate: open loop, timed from when a request was due. As many as it can: 64 under way at once. Medians of ${rounds.count} rounds (least–greatest), in which the two take turns, after both are warm; failures are of all rounds. CPU: user and system time of the process from /proc/PID/stat. Ratio: answers per second of the webhook over those of the echo.`,
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

/** As many as one reads, the last among them. */
function thinned<T>(samples: readonly T[]): T[] {
  const step = Math.ceil(samples.length / 12);
  return samples.filter((_, index) => (samples.length - 1 - index) % step === 0);
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
    rows: [{ admissions: 0, rssMb: idleRssMb }, ...thinned(samples)].map(({ admissions, rssMb }) => ({
      admissions,
      rss: rssMb,
      ratio: rssMb / idleRssMb,
    })),
  };
}

function slopeTable({ memory: { idleRssMb, samples, filesMb, echoRssMb } }: Output): Table {
  const last = samples.slice(Math.floor(samples.length / 2));
  return {
    title: 'What stays in memory',
    method:
      'Least squares over the second half of the samples above: growth of the resident set with the number of admissions. Flat is 0. Files: pages of the program, which all Node processes of a machine share.',
    columns: [
      { key: 'admissions', title: 'Admissions' },
      { key: 'idle', title: 'RSS before, MiB' },
      { key: 'rss', title: 'RSS after, MiB' },
      { key: 'files', title: 'of it files' },
      { key: 'echo', title: 'RSS of the echo' },
      { key: 'growth', title: 'Growth, MiB per 100,000' },
    ],
    rows: [
      {
        admissions: samples.at(-1)?.admissions ?? 0,
        idle: idleRssMb,
        rss: samples.at(-1)?.rssMb ?? 0,
        files: filesMb,
        echo: echoRssMb,
        growth: slope(last.map(({ admissions, rssMb }) => [admissions / 100_000, rssMb])),
      },
    ],
  };
}

export const webhookBench: Bench = { name: 'webhook', title: 'The webhook alone', run };
