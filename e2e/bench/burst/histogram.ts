/** A Prometheus histogram at a moment, or between two. */
export interface Histogram {
  readonly count: number;
  readonly sum: number;
  /** Upper bound -> observations at or below it, in the order of the bounds; the last is Infinity. */
  readonly buckets: ReadonlyMap<number, number>;
}

const emptyHistogram: Histogram = { count: 0, sum: 0, buckets: new Map() };

/** The sum over all series of that name whose labels contain these. */
export function readHistogram(
  exposition: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Histogram {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  let count = 0;
  let sum = 0;
  const buckets = new Map<number, number>();
  for (const line of exposition.split('\n')) {
    if (!line.startsWith(name) || !wanted.every((label) => line.includes(label))) continue;
    const value = Number(line.slice(line.lastIndexOf(' ') + 1));
    const rest = line.slice(name.length);
    if (rest.startsWith('_count')) count += value;
    else if (rest.startsWith('_sum')) sum += value;
    else if (rest.startsWith('_bucket')) {
      const bound = boundOf(line);
      buckets.set(bound, (buckets.get(bound) ?? 0) + value);
    }
  }
  return { count, sum, buckets: new Map([...buckets].toSorted(([a], [b]) => a - b)) };
}

/** A counter by the values of one of its labels, summed over all others. */
export function readCounter(exposition: string, name: string, label: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of exposition.split('\n')) {
    if (!line.startsWith(`${name}{`)) continue;
    const value = new RegExp(`[{,]${label}="([^"]*)"`).exec(line)?.[1];
    if (value === undefined) continue;
    counts[value] = (counts[value] ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return counts;
}

function boundOf(line: string): number {
  const text = /le="([^"]+)"/.exec(line)?.[1];
  return text === '+Inf' ? Infinity : Number(text);
}

export function difference(after: Histogram, before: Histogram): Histogram {
  return combine(after, before, -1);
}

export function merged(histograms: readonly Histogram[]): Histogram {
  return histograms.reduce((all, one) => combine(all, one, 1), emptyHistogram);
}

function combine(a: Histogram, b: Histogram, sign: 1 | -1): Histogram {
  const bounds = [...new Set([...a.buckets.keys(), ...b.buckets.keys()])].toSorted((x, y) => x - y);
  return {
    count: a.count + sign * b.count,
    sum: a.sum + sign * b.sum,
    buckets: new Map(
      bounds.map((bound) => [bound, (a.buckets.get(bound) ?? 0) + sign * (b.buckets.get(bound) ?? 0)]),
    ),
  };
}

export function meanOf({ sum, count }: Histogram): number {
  return sum / count;
}

/** As Prometheus estimates it: a straight line within the bucket. Coarse where the buckets are. */
export function quantileOf({ count, buckets }: Histogram, share: number): number {
  const rank = share * count;
  let below = 0;
  let lower = 0;
  for (const [upper, cumulative] of buckets) {
    if (cumulative >= rank && cumulative > 0) {
      if (upper === Infinity) return lower;
      return lower + ((upper - lower) * (rank - below)) / (cumulative - below);
    }
    below = cumulative;
    lower = upper;
  }
  return Number.NaN;
}
