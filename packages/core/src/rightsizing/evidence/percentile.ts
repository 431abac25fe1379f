import type { percentiles } from '../optimization-policy.ts';

export type Percentile = (typeof percentiles)[number];

export const shares: Readonly<Record<Percentile, number>> = { P50: 0.5, P90: 0.9, P99: 0.99 };

/** Of values in ascending order, by linear interpolation at rank `share (n - 1)`. NaN of none. */
export function percentileOf(ascending: ArrayLike<number>, share: number): number {
  const rank = share * (ascending.length - 1);
  const below = ascending[Math.floor(rank)] ?? Number.NaN;
  const above = ascending[Math.ceil(rank)] ?? below;
  return below + (above - below) * (rank - Math.floor(rank));
}
