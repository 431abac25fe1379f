import { expect } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import { PodHistory } from './history.ts';
import { eventsOn, verdictOn } from './moves.ts';
import type { Stage } from './stage.ts';
import { type Declaration, type Split, splitOf, type Workload } from './workload.ts';

/** As fast as workloads may be moved, so that a scenario lasts seconds. */
export const rebalance = {
  cooldown: '1s',
  minPodAge: '1s',
  maxMovesPerMinute: 1_000,
  maxInFlight: { namespace: 20, node: 20 },
};

export const annotate = (annotations: Readonly<Record<string, string>>) => ({ metadata: { annotations } });
export const spotPercentage = (percentage: number) =>
  annotate({ [policyKeys.spotPercentage]: String(percentage) });

/** Waits until the workload is split like this, and all its pods are Ready. */
export async function settled(workload: Workload, split: Omit<Split, 'unsteered'>, timeoutMs = 150_000) {
  const replicas = split.spot + split.onDemand;
  let seen: Split | undefined;
  await waitFor(
    `${workload.path} to be ${JSON.stringify(split)}`,
    async () => {
      seen = splitOf(await workload.ready(replicas, timeoutMs));
      return seen.spot === split.spot && seen.onDemand === split.onDemand;
    },
    { timeoutMs, intervalMs: 300 },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; it is ${JSON.stringify(seen)}`);
  });
}

export const pdb = (namespace: string, name: string, minAvailable: number) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace },
  spec: { minAvailable, selector: { matchLabels: { app: 'web' } } },
});

/** Each has a namespace of its own and they are played at the same time. */
export interface Scenario {
  readonly name: string;
  readonly namespace: string;
  readonly evictions: number;
  play(stage: Stage, namespace: string): Promise<void>;
}

export const ten = (namespace: string, percentage: number, more: Partial<Declaration> = {}): Declaration => ({
  name: 'web',
  namespace,
  replicas: 10,
  policy: { spotPercentage: percentage, minOnDemand: 1 },
  ...more,
});

/** Declares, waits until all is there, and looks at every state in between with a floor. */
export async function watched(
  stage: Stage,
  declaration: Declaration,
  floor: number,
  play: (workload: Workload) => Promise<void>,
): Promise<void> {
  const workload = await stage.declare(declaration);
  await workload.ready(declaration.replicas);
  const history = await PodHistory.follow(stage.cluster, declaration.namespace);
  await play(workload);
  await history.stop();
  for (const { onDemand } of history.states) expect(onDemand).toBeGreaterThanOrEqual(floor);
}

export async function heldBecause(stage: Stage, workload: Workload, reason: string): Promise<void> {
  await verdictOn(stage, workload, reason);
  await waitFor(
    `an Event on ${workload.path}`,
    async () => (await eventsOn(stage, workload, 'MoveBlocked')).length > 0,
  );
}
