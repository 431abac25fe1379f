import type { Table } from '../bench.ts';
import { median, quantile, sum } from '../statistics.ts';
import { spread } from '../table.ts';
import type { Load } from '../workloads.ts';
import { type Histogram, meanOf, merged, quantileOf } from './histogram.ts';
import type { LaneName } from './lane.ts';
import type { Trial } from './trial.ts';

export interface Sample {
  readonly size: string;
  readonly lane: LaneName;
  readonly round: number;
  readonly trial: Trial;
}

interface Group {
  readonly sizes: readonly Load[];
  readonly rounds: number;
}

/** The trials of one size, those of a lane in the order of the rounds. */
class SizeView {
  readonly name: string;
  readonly #samples: readonly Sample[];

  constructor(name: string, samples: readonly Sample[]) {
    this.name = name;
    this.#samples = samples.filter(({ size }) => size === name);
  }

  trials(lane: LaneName): Trial[] {
    return this.#samples
      .filter((sample) => sample.lane === lane)
      .toSorted((a, b) => a.round - b.round)
      .map(({ trial }) => trial);
  }

  values(lane: LaneName, of: (trial: Trial) => number): number[] {
    return this.trials(lane).map(of);
  }

  pooled(lane: LaneName, of: (trial: Trial) => Histogram): Histogram {
    return merged(this.trials(lane).map(of));
  }

  /** Of each round one ratio: what both lanes met in that round cancels out. */
  ratio(over: LaneName, under: LaneName, of: (trial: Trial) => number): string {
    const below = this.values(under, of);
    const ratios = this.values(over, of).map((value, round) => value / (below[round] ?? Number.NaN));
    return spread(ratios, (ratio) => ratio.toFixed(2));
  }
}

const ms = (durationSeconds: number): number => durationSeconds * 1000;
const admission = (trial: Trial): Histogram => trial.admission;
const duration = (trial: Trial): number => trial.seconds;

export function burstTables(groups: readonly Group[], samples: readonly Sample[]): Table[] {
  const views = groups.flatMap(({ sizes }) => sizes.map(({ name }) => new SizeView(name, samples)));
  const rounds = groups
    .map((group) => `${group.rounds} (${group.sizes.map(({ name }) => name).join(', ')})`)
    .join(' and ');
  return [latency(views, rounds), seconds(views), creations(views), inside(views), effort(views)];
}

function latency(views: readonly SizeView[], rounds: string): Table {
  return {
    title: 'Latency as the API server sees it',
    method: `\`apiserver_admission_webhook_admission_duration_seconds\`, difference between before and after the burst. Fresh cluster for each lane and round, the lanes in turn, rounds: ${rounds}. Three replicas behind a TCP balancer, two controllers, one Redis, real TLS, the API server's audit log on, everything on the machine's cores together. Mean and quantiles over all rounds; quantiles are estimates within that histogram's buckets (5, 25, 100, 500, 1,000, 2,500 ms). Ratio: median of the rounds' ratios of the means (least–greatest).`,
    columns: [
      { key: 'size', title: 'Pods' },
      { key: 'mean', title: 'Spotalis mean, ms' },
      { key: 'p50', title: 'p50' },
      { key: 'p99', title: 'p99' },
      { key: 'nullMean', title: 'Null webhook mean, ms' },
      { key: 'nullP50', title: 'p50' },
      { key: 'nullP99', title: 'p99' },
      { key: 'ratio', title: 'Spotalis / null' },
    ],
    rows: views.map((view) => {
      const ours = view.pooled('spotalis', admission);
      const none = view.pooled('null-webhook', admission);
      return {
        size: view.name,
        mean: ms(meanOf(ours)),
        p50: ms(quantileOf(ours, 0.5)),
        p99: ms(quantileOf(ours, 0.99)),
        nullMean: ms(meanOf(none)),
        nullP50: ms(quantileOf(none, 0.5)),
        nullP99: ms(quantileOf(none, 0.99)),
        ratio: view.ratio('spotalis', 'null-webhook', (trial) => meanOf(trial.admission)),
      };
    }),
  };
}

function seconds(views: readonly SizeView[]): Table {
  return {
    title: 'Seconds to the last pod',
    method:
      "From the first Deployment received to the last pod's creation answered, by the API server's audit log. Median of the rounds; ratios as above.",
    columns: [
      { key: 'size', title: 'Pods' },
      { key: 'ours', title: 'Spotalis, s' },
      { key: 'null', title: 'Null webhook, s' },
      { key: 'none', title: 'No webhook, s' },
      { key: 'overNull', title: 'Spotalis / null' },
      { key: 'overNone', title: 'Spotalis / none' },
      { key: 'nullOverNone', title: 'Null / none' },
    ],
    rows: views.map((view) => ({
      size: view.name,
      ours: median(view.values('spotalis', duration)),
      null: median(view.values('null-webhook', duration)),
      none: median(view.values('no-webhook', duration)),
      overNull: view.ratio('spotalis', 'null-webhook', duration),
      overNone: view.ratio('spotalis', 'no-webhook', duration),
      nullOverNone: view.ratio('null-webhook', 'no-webhook', duration),
    })),
  };
}

function creations(views: readonly SizeView[]): Table {
  const times = (view: SizeView, lane: LaneName): number[] =>
    view.trials(lane).flatMap(({ createMs }) => createMs);
  return {
    title: 'The whole creation of one pod',
    method:
      'Request received to answer written, of every created pod, by the audit log: admission, storage and all. Exact quantiles over all rounds.',
    columns: [
      { key: 'size', title: 'Pods' },
      { key: 'p50', title: 'Spotalis p50, ms' },
      { key: 'p99', title: 'p99' },
      { key: 'nullP50', title: 'Null webhook p50, ms' },
      { key: 'nullP99', title: 'p99' },
      { key: 'noneP50', title: 'No webhook p50, ms' },
      { key: 'noneP99', title: 'p99' },
    ],
    rows: views.map((view) => ({
      size: view.name,
      p50: quantile(times(view, 'spotalis'), 0.5),
      p99: quantile(times(view, 'spotalis'), 0.99),
      nullP50: quantile(times(view, 'null-webhook'), 0.5),
      nullP99: quantile(times(view, 'null-webhook'), 0.99),
      noneP50: quantile(times(view, 'no-webhook'), 0.5),
      noneP99: quantile(times(view, 'no-webhook'), 0.99),
    })),
  };
}

function inside(views: readonly SizeView[]): Table {
  return {
    title: 'Inside the webhook, and exactness',
    method:
      'Times: `spotalis_admission_duration_seconds` over the three replicas, from the arrival of the request to the answer written, in the null webhook likewise: what that one takes is waiting for the CPU. Quantiles are estimates within its buckets. Ledger: `spotalis_ledger_duration_seconds` of the question that decides. Decided alone: without the ledger, which was late or could not be reached. Off target, unsteered, evictions: pods over all rounds, counted in a LIST right after the last creation and in the audit log. Reads: LISTs and GETs by the webhook in the audit log, per admission.',
    columns: [
      { key: 'size', title: 'Pods' },
      { key: 'mean', title: 'Mean, ms' },
      { key: 'p50', title: 'p50' },
      { key: 'p99', title: 'p99' },
      { key: 'nullMean', title: 'Null mean, ms' },
      { key: 'nullP50', title: 'p50' },
      { key: 'nullP99', title: 'p99' },
      { key: 'ledger', title: 'Ledger mean, ms' },
      { key: 'ledgerP99', title: 'p99' },
      { key: 'alone', title: 'Decided alone' },
      { key: 'off', title: 'Off target' },
      { key: 'unsteered', title: 'Unsteered' },
      { key: 'evictions', title: 'Evictions' },
      { key: 'lists', title: 'LISTs / admission' },
      { key: 'gets', title: 'GETs / admission' },
    ],
    rows: views.map((view) => {
      const time = view.pooled('spotalis', (trial) => trial.inside);
      const none = view.pooled('null-webhook', (trial) => trial.inside);
      const all = (of: (trial: Trial) => number): number => sum(view.values('spotalis', of));
      const pods = all((trial) => trial.pods);
      const asked = view.pooled('spotalis', (trial) => trial.ledger);
      return {
        size: view.name,
        mean: ms(meanOf(time)),
        p50: ms(quantileOf(time, 0.5)),
        p99: ms(quantileOf(time, 0.99)),
        nullMean: ms(meanOf(none)),
        nullP50: ms(quantileOf(none, 0.5)),
        nullP99: ms(quantileOf(none, 0.99)),
        ledger: ms(meanOf(asked)),
        ledgerP99: ms(quantileOf(asked, 0.99)),
        alone: all(({ reasons }) => sum(Object.values(reasons)) - (reasons['ledger'] ?? 0)),
        off: all((trial) => trial.offTarget ?? 0),
        unsteered: all((trial) => trial.unsteered),
        evictions: all((trial) => trial.evictions),
        lists: all((trial) => trial.lists) / pods,
        gets: all((trial) => trial.gets) / pods,
      };
    }),
  };
}

function effort(views: readonly SizeView[]): Table {
  const perPod = (view: SizeView, lane: LaneName, of: (trial: Trial) => number | undefined): number =>
    sum(view.values(lane, (trial) => of(trial) ?? Number.NaN)) / sum(view.values(lane, ({ pods }) => pods));
  const largest = (view: SizeView, of: (trial: Trial) => number | undefined): number =>
    Math.max(...view.values('spotalis', (trial) => of(trial) ?? Number.NaN));
  return {
    title: 'What it costs',
    method:
      'CPU: user and system time of all replicas from /proc/PID/stat (counted in 10 ms), divided by the pods, over all rounds. RSS: the largest replica at the end of the burst, from /proc/PID/status; the larger bursts run in the same processes as the smaller ones above them.',
    columns: [
      { key: 'size', title: 'Pods' },
      { key: 'cpu', title: 'Webhook CPU ms / admission' },
      { key: 'nullCpu', title: 'Null webhook CPU ms / admission' },
      { key: 'ratio', title: 'Webhook / null' },
      { key: 'controllerCpu', title: 'Controllers CPU ms / pod' },
      { key: 'rss', title: 'Webhook RSS, MiB' },
      { key: 'controllerRss', title: 'Controller RSS, MiB' },
    ],
    rows: views.map((view) => {
      const cpu = perPod(view, 'spotalis', (trial) => trial.admissionCpuMs);
      const nullCpu = perPod(view, 'null-webhook', (trial) => trial.admissionCpuMs);
      return {
        size: view.name,
        cpu,
        nullCpu,
        ratio: cpu / nullCpu,
        controllerCpu: perPod(view, 'spotalis', (trial) => trial.controllerCpuMs),
        rss: largest(view, (trial) => trial.admissionRssMiB),
        controllerRss: largest(view, (trial) => trial.controllerRssMiB),
      };
    }),
  };
}
