import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '@spotalis/cluster';
import { type PolicyNumbers, policyKeys } from '@spotalis/core';
import { PodHistory } from '../../workloads/history.ts';
import { eventsOn, killLeader } from '../../testbed/moves.ts';
import type { Testbed } from '../../testbed/testbed.ts';
import { splitOf, type Workload } from '../../workloads/workload.ts';
import { Sampler } from './sampler.ts';

export type LaneName = 'spotalis' | 'never';

/** One workload through one drought. */
export interface Trial {
  readonly lane: LaneName;
  /** From the loss of the spot nodes until every replica runs; null: not before they were back. */
  readonly bridgedSeconds: number | null;
  readonly fewestReady: number;
  /** Summed over the drought and the way back. */
  readonly missingReplicaSeconds: number;
  /** How often somebody waited for a whole period: the Event that begins a fallback. */
  readonly waitingPeriods: number;
  /** Pods that waited for spot in vain and were removed. */
  readonly stuckRemoved: number;
  readonly substitutes: number;
  /** From the return of the spot nodes until the split is exact and every replica runs. */
  readonly backSeconds: number;
  /** Evictions on the way back beyond one for each substitute. */
  readonly inVain: number;
  /** Moments on the way back at which there were fewer spot pods than before. */
  readonly steppedBack: number;
}

export interface Drought {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly policy: PolicyNumbers;
  readonly droughtMs: number;
  /** kill -9, at the moment when the spot nodes go. */
  readonly killsLeader: boolean;
}

const TIMEOUT_MS = 300_000;

/** The same burst in the same drought, once bridged and once not, side by side. */
export async function runDrought(testbed: Testbed, drought: Drought): Promise<readonly Trial[]> {
  const lanes = await Promise.all(
    (['spotalis', 'never'] as const).map(async (name) => {
      const namespace = `${drought.name}-${name}`;
      const { policy, from: replicas } = drought;
      const workload = await testbed.declare({ name: 'web', namespace, replicas, policy });
      if (name === 'never') {
        await workload.patch({ metadata: { annotations: { [policyKeys.spotFallbackAfter]: 'never' } } });
      }
      await workload.ready(replicas);
      return { name, namespace, workload };
    }),
  );
  const lostAtMs = performance.now();
  await Promise.all([
    ...lanes.map(({ workload }) => workload.scale(drought.to)),
    testbed.cluster.withdrawCapacity('spot'),
    ...(drought.killsLeader ? [killLeader(testbed)] : []),
  ]);
  const samplers = lanes.map(({ workload }) => new Sampler(workload, drought.to));
  const bridged = await Promise.all(
    lanes.map(async ({ name, workload }) =>
      name === 'never' ? null : await secondsUntil(lostAtMs, workload.ready(drought.to, TIMEOUT_MS)),
    ),
  );
  await pause(Math.max(0, lostAtMs + drought.droughtMs - performance.now()));

  const before = await Promise.all(
    lanes.map(async ({ namespace, workload }) => ({
      stuckRemoved: testbed.evictions(namespace),
      substitutes: workload.exactly(drought.to).spot - splitOf(await workload.pods()).spot,
      history: await PodHistory.follow(testbed.cluster, namespace),
    })),
  );
  const returnedAtMs = performance.now();
  const back = lanes.map(({ workload }) =>
    secondsUntil(returnedAtMs, exact(workload, drought.to, TIMEOUT_MS)),
  );
  await testbed.cluster.returnCapacity('spot');
  const backSeconds = await Promise.all(back);

  const trials: Trial[] = [];
  for (const [index, { name, namespace, workload }] of lanes.entries()) {
    const [sampler, start] = [samplers[index], before[index]];
    if (sampler === undefined || start === undefined) continue;
    await start.history.stop();
    const { stuckRemoved, substitutes, history } = start;
    trials.push({
      lane: name,
      bridgedSeconds: bridged[index] ?? null,
      ...(await sampler.stop()),
      waitingPeriods: (await eventsOn(testbed, workload, 'FallbackStarted')).length,
      stuckRemoved,
      substitutes,
      backSeconds: backSeconds[index] ?? Number.NaN,
      inVain: testbed.evictions(namespace) - stuckRemoved - substitutes,
      steppedBack: stepsBack(history.states.map(({ spot }) => spot)),
    });
    await workload.scale(0);
  }
  return trials;
}

export async function exact(workload: Workload, replicas: number, timeoutMs: number): Promise<void> {
  await waitFor(
    `${workload.path} to be split exactly`,
    async () => splitOf(await workload.ready(replicas, timeoutMs)).spot === workload.exactly(replicas).spot,
    { timeoutMs, intervalMs: 200 },
  );
}

export async function secondsUntil(sinceMs: number, done: Promise<unknown>): Promise<number> {
  await done;
  return (performance.now() - sinceMs) / 1000;
}

function stepsBack(counts: readonly number[]): number {
  return counts.filter((count, index) => count < (counts[index - 1] ?? 0)).length;
}
