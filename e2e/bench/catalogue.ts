import type { Bench } from './bench.ts';
import { burstBench } from './burst/burst.ts';
import { controllerBench } from './controller/load.ts';
import { coreBench } from './core/decision.ts';
import { kubeBench } from './packages/kube.ts';

/** In the order in which they run and in which the page has them. */
export const benches: readonly Bench[] = [coreBench, kubeBench, burstBench, controllerBench];
