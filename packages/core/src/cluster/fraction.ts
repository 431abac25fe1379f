import type { IntOrPercent } from './workload.ts';

/** Kubernetes rounds up wherever the result protects pods or limits damage to a rollout, and says where it does not. */
type Rounding = 'up' | 'down';

/** A number as it is, or a percentage of `total`; null for a text that is no percentage. */
export function resolveFraction(value: IntOrPercent, total: number, rounding: Rounding): number | null {
  if (typeof value === 'number') return value;
  const [, digits] = /^(\d+)%$/.exec(value) ?? [];
  if (digits === undefined) return null;
  // As in apimachinery, integers first: 7 % of 100 must not become 7.000000000000001.
  const hundredths = Number(digits) * total;
  return rounding === 'up' ? Math.ceil(hundredths / 100) : Math.floor(hundredths / 100);
}
