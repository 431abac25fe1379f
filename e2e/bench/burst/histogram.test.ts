import { describe, expect, it } from '@jest/globals';
import { difference, meanOf, merged, quantileOf, readCounter, readHistogram } from './histogram.ts';

const exposition = (low: number, high: number): string => `# HELP x_seconds what it is
# TYPE x_seconds histogram
x_seconds_bucket{name="a",type="admit",le="0.1"} ${low}
x_seconds_bucket{name="a",type="admit",le="0.5"} ${low + high}
x_seconds_bucket{name="a",type="admit",le="+Inf"} ${low + high}
x_seconds_sum{name="a",type="admit"} ${low * 0.05 + high * 0.3}
x_seconds_count{name="a",type="admit"} ${low + high}
x_seconds_bucket{name="b",type="admit",le="0.1"} 1000
x_seconds_bucket{name="b",type="admit",le="0.5"} 1000
x_seconds_bucket{name="b",type="admit",le="+Inf"} 1000
x_seconds_sum{name="b",type="admit"} 10
x_seconds_count{name="b",type="admit"} 1000
x_seconds_other_count{name="a"} 7
`;
const of = (low: number, high: number) => readHistogram(exposition(low, high), 'x_seconds', { name: 'a' });

describe('a counter', () => {
  it('is split by one label and summed over the others', () => {
    const page = `# TYPE n_total counter
n_total{result="steered",type="spot",reason="ledger"} 3
n_total{result="steered",type="on-demand",reason="ledger"} 4
n_total{result="steered",type="spot",reason="late"} 1
n_total_other{reason="late"} 9
`;
    expect(readCounter(page, 'n_total', 'reason')).toEqual({ ledger: 7, late: 1 });
  });
});

describe('a histogram read from an exposition', () => {
  it('has only the series asked for', () => {
    expect(of(8, 2).count).toBe(10);
    expect(readHistogram(exposition(8, 2), 'x_seconds').count).toBe(1010);
  });

  it('is empty where there is no such series', () => {
    expect(readHistogram(exposition(8, 2), 'y_seconds')).toEqual({ count: 0, sum: 0, buckets: new Map() });
  });

  it('differs between two moments by what happened in between', () => {
    const between = difference(of(18, 4), of(8, 2));
    expect(between.count).toBe(12);
    expect(meanOf(between)).toBeCloseTo((10 * 0.05 + 2 * 0.3) / 12);
    expect([...between.buckets]).toEqual([
      [0.1, 10],
      [0.5, 12],
      [Infinity, 12],
    ]);
  });

  it('starts at nothing when there was no series before', () => {
    expect(difference(of(8, 2), readHistogram('', 'x_seconds')).count).toBe(10);
  });

  it('adds up over runs', () => {
    expect(merged([of(8, 2), of(2, 8)])).toMatchObject({ count: 20 });
    expect(merged([]).count).toBe(0);
  });

  it('has quantiles on a straight line within a bucket', () => {
    expect(quantileOf(of(8, 2), 0.5)).toBeCloseTo(0.0625);
    expect(quantileOf(of(8, 2), 0.9)).toBeCloseTo(0.3);
    expect(quantileOf(of(8, 2), 0.8)).toBeCloseTo(0.1);
    expect(quantileOf(of(0, 4), 0.5)).toBeCloseTo(0.3);
    expect(quantileOf(of(0, 0), 0.5)).toBeNaN();
  });
});
