import type { Bench } from './bench.ts';
import { burstBench } from './burst/burst.ts';
import { cliBench } from './cli/status.ts';
import { controllerBench } from './controller/load.ts';
import { coreBench } from './core/decision.ts';
import { droughtBench } from './drought/drought.ts';
import { growthBench } from './packages/growth.ts';
import { kubeBench } from './packages/kube.ts';
import { ledgerBench } from './packages/ledger.ts';
import { webhookBench } from './packages/webhook.ts';

/** In the order in which they run and in which the page has them. */
export const benches: readonly Bench[] = [
  coreBench,
  ledgerBench,
  webhookBench,
  kubeBench,
  burstBench,
  controllerBench,
  growthBench,
  droughtBench,
  cliBench,
];
