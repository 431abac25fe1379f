import type { ContainerUsage } from './evidence/usage.ts';
import type { SizedResource } from './evidence/point.ts';
import type { Range, Sizing } from './sizing.ts';

export const clampTo = ({ min, max }: Range, amount: number): number => Math.min(Math.max(amount, min), max);

/** The percentile times the factor within the bounds, and nothing else. */
export interface Recommendation {
  readonly percentile: number;
  readonly factor: number;
  /** Before the bounds. */
  readonly raw: number;
  readonly amount: number;
}

export function recommend(
  resource: SizedResource,
  usage: Pick<ContainerUsage, SizedResource>,
  sizing: Pick<Sizing, 'percentile' | 'factor' | 'bounds'>,
): Recommendation {
  const percentile = usage[resource][sizing.percentile[resource]];
  const factor = sizing.factor[resource];
  const raw = Math.trunc(percentile * factor);
  return { percentile, factor, raw, amount: clampTo(sizing.bounds[resource], raw) };
}
