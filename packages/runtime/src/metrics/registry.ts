import type {
  CounterMetric,
  CounterSpec,
  GaugeMetric,
  GaugeSpec,
  HistogramMetric,
  HistogramSpec,
  MetricRegistry,
  MetricSpec,
} from '@spotalis/units';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Sample, writeView } from './view.ts';

/** All metrics of one process. Each spec is registered exactly once. */
export class Metrics implements MetricRegistry {
  readonly #registry = new Registry();
  readonly #views: (() => readonly Buffer[])[] = [];
  readonly #specs = new Map<string, MetricSpec>();

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** What is registered here, in the order of registration; the process metrics are not among it. */
  get specs(): readonly MetricSpec[] {
    return [...this.#specs.values()];
  }

  /** Adds prom-client's process_* and nodejs_* metrics. */
  collectProcess(): this {
    collectDefaultMetrics({ register: this.#registry });
    return this;
  }

  /** The page a scrape gets, in pieces: a leader's is megabytes. */
  async *page(): AsyncGenerator<string | Buffer> {
    yield await this.#registry.metrics();
    for (const view of this.#views) yield* view();
  }

  counter<Label extends string>(spec: CounterSpec<Label>): CounterMetric<Label> {
    this.#claim(spec);
    const counter = new Counter({ ...options(spec), registers: [this.#registry] });
    return {
      add: (labels, amount = 1) => counter.inc(labels, amount),
      touch: (labels) => counter.inc(labels, 0),
    };
  }

  gauge<Label extends string>(spec: GaugeSpec<Label>): GaugeMetric<Label> {
    this.#claim(spec);
    const gauge = new Gauge({ ...options(spec), registers: [this.#registry] });
    return {
      set: (labels, value) => gauge.set(labels, value),
      add: (labels, amount) => gauge.inc(labels, amount),
    };
  }

  /**
   * A gauge with series for each of many things that somebody knows anyway: nothing is kept of them here, each scrape
   * reads them.
   */
  view<Label extends string>(spec: GaugeSpec<Label>, read: () => Iterable<Sample<Label>>): void {
    this.#claim(spec);
    this.#views.push(() => writeView(spec, read()));
  }

  histogram<Label extends string>(spec: HistogramSpec<Label>): HistogramMetric<Label> {
    this.#claim(spec);
    const histogram = new Histogram({
      ...options(spec),
      buckets: [...spec.buckets],
      registers: [this.#registry],
    });
    return {
      observe: (labels, value) => histogram.observe(labels, value),
      touch: (labels) => histogram.zero(labels),
    };
  }

  #claim(spec: MetricSpec): void {
    const { name } = spec;
    if (this.#specs.has(name))
      throw new Error(`metric ${name} is registered already; create it once and pass it on`);
    this.#specs.set(name, spec);
  }
}

const options = <Label extends string>({
  name,
  help,
  labels,
}: {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
}) => ({
  name,
  help,
  labelNames: [...labels],
});
