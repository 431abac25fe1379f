interface About<Label extends string> {
  readonly name: string;
  readonly labels: readonly Label[];
  readonly help: string;
}

export interface CounterSpec<Label extends string = string> extends About<Label> {
  readonly type: 'counter';
}

export interface GaugeSpec<Label extends string = string> extends About<Label> {
  readonly type: 'gauge';
}

export interface HistogramSpec<Label extends string = string> extends About<Label> {
  readonly type: 'histogram';
  /** Upper bounds, in the unit the name ends with. */
  readonly buckets: readonly number[];
}

/** One metric as data: what the code registers and what docs/metrics.md is written from. */
export type MetricSpec = CounterSpec | GaugeSpec | HistogramSpec;

/** The values of all labels of one series. */
export type Labels<Label extends string> = Readonly<Record<Label, string>>;

export interface CounterMetric<Label extends string> {
  /** By one, or by the given amount. */
  add(labels: Labels<Label>, amount?: number): void;
  /** Makes the series visible at 0, so that the first increase is seen as one. */
  touch(labels: Labels<Label>): void;
}

export interface GaugeMetric<Label extends string> {
  set(labels: Labels<Label>, value: number): void;
  add(labels: Labels<Label>, amount: number): void;
}

export interface HistogramMetric<Label extends string> {
  observe(labels: Labels<Label>, value: number): void;
  touch(labels: Labels<Label>): void;
}

/** Where the metrics of one process are registered, each exactly once. */
export interface MetricRegistry {
  counter<Label extends string>(spec: CounterSpec<Label>): CounterMetric<Label>;
  gauge<Label extends string>(spec: GaugeSpec<Label>): GaugeMetric<Label>;
  histogram<Label extends string>(spec: HistogramSpec<Label>): HistogramMetric<Label>;
}

/** Bounds in seconds for an admission and its parts: well under a millisecond when all is well, and 10 s at the worst. */
export const admissionSeconds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
