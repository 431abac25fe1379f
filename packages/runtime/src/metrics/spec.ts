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
