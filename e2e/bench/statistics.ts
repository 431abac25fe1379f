/** Of numbers that may come in any order. NaN where there are none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which that share of the values lies, by the nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Of the straight line that comes closest to the points [x, y], by least squares. */
export function slope(points: readonly (readonly [number, number])[]): number {
  const meanX = sum(points.map(([x]) => x)) / points.length;
  const meanY = sum(points.map(([, y]) => y)) / points.length;
  const covariance = sum(points.map(([x, y]) => (x - meanX) * (y - meanY)));
  return covariance / sum(points.map(([x]) => (x - meanX) ** 2));
}
