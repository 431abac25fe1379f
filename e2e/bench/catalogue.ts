import type { Bench } from './bench.ts';
import { burstBench } from './burst/burst.ts';
import { coreBench } from './core/decision.ts';

/** In the order in which they run and in which the page has them. */
export const benches: readonly Bench[] = [coreBench, burstBench];
