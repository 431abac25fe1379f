/** Usage of one resource over one point of time: millicores or bytes. */
export type SizedResource = 'cpu' | 'memory';

export const sizedResources = ['cpu', 'memory'] as const;

/** Neighbouring codes differ by half a percent, so a value is off by a quarter of a percent at most. */
const LOG_STEP = Math.log(1.005);

/** The least amount that is not idle. */
const least: Readonly<Record<SizedResource, number>> = { cpu: 0.01, memory: 1024 };

/** No usage at all. */
const IDLE = 0;
/** Nothing is known of the point. */
export const MISSING = 0xff_ff;

/** An amount in two bytes. */
export function encodePoint(resource: SizedResource, amount: number): number {
  const x0 = least[resource];
  if (!(amount >= x0 / 2)) return IDLE;
  const code = 1 + Math.round(Math.log(amount / x0) / LOG_STEP);
  return Math.min(Math.max(code, 1), MISSING - 1);
}

export const decodePoint = (resource: SizedResource, code: number): number =>
  code === IDLE ? 0 : least[resource] * Math.exp((code - 1) * LOG_STEP);
