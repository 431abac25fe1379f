import { waitFor } from '@spotalis/cluster';
import type { Testbed } from '../../testbed/testbed.ts';
import type { Workload } from '../../workloads/workload.ts';
import { sum } from '../statistics.ts';
import { exact, secondsUntil } from './trial.ts';

/** Several workloads of one placement, declared in a drought: first a few, and then the rest. */
export interface PoolTrial {
  readonly workloads: number;
  readonly pods: number;
  readonly readySeconds: number;
  /** Pods that waited for spot in vain. */
  readonly stuckRemoved: number;
}

export interface PoolTrials {
  readonly first: PoolTrial;
  readonly later: PoolTrial;
  readonly backSeconds: number;
  readonly substitutes: number;
  readonly inVain: number;
}

const REPLICAS = 4;
const policy = { spotPercentage: 50, minOnDemand: 1 };
/** As many as make a lack of capacity that of the whole placement, and one more. */
const FIRST = 4;
const TIMEOUT_MS = 300_000;

export async function runPool(testbed: Testbed, workloads: number): Promise<PoolTrials> {
  const { cluster, installation } = testbed;
  await cluster.withdrawCapacity('spot');
  const first = await declareAll(testbed, 'first', FIRST);
  await waitFor('every webhook to know', () => installation.admissionMetric('spotalis_open_pools'), {
    until: (known) => known === installation.webhooks.length,
  });
  const later = await declareAll(testbed, 'later', workloads - FIRST);
  const all = [...first.workloads, ...later.workloads];
  const substitutes = sum(all.map((workload) => workload.exactly(REPLICAS).spot));
  const before = testbed.evictions('first') + testbed.evictions('later');
  const returnedAtMs = performance.now();
  await cluster.returnCapacity('spot');
  const backSeconds = await secondsUntil(
    returnedAtMs,
    Promise.all(all.map((workload) => exact(workload, REPLICAS, TIMEOUT_MS))),
  );
  const evictions = testbed.evictions('first') + testbed.evictions('later') - before;
  return {
    first: first.trial,
    later: later.trial,
    backSeconds,
    substitutes,
    inVain: evictions - substitutes,
  };
}

async function declareAll(
  testbed: Testbed,
  namespace: string,
  count: number,
): Promise<{ readonly workloads: readonly Workload[]; readonly trial: PoolTrial }> {
  const declaredAtMs = performance.now();
  const workloads = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      testbed.declare({ name: `web-${index}`, namespace, replicas: REPLICAS, policy }),
    ),
  );
  const readySeconds = await secondsUntil(
    declaredAtMs,
    Promise.all(workloads.map((workload) => workload.ready(REPLICAS, TIMEOUT_MS))),
  );
  const trial = {
    workloads: count,
    pods: count * REPLICAS,
    readySeconds,
    stuckRemoved: testbed.evictions(namespace),
  };
  return { workloads, trial };
}
