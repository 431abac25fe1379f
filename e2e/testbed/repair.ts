import { expect } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import { PodHistory } from '../workloads/history.ts';
import { type Declaration, type Split, splitOf, type Workload } from '../workloads/workload.ts';
import { eventsOn, verdictOn } from './moves.ts';
import type { Testbed } from './testbed.ts';

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

export const pdb = (namespace: string, name: string, minAvailable: number, app = 'web') => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace },
  spec: { minAvailable, selector: { matchLabels: { app } } },
});

/** Each has a namespace of its own and they are played at the same time. */
export interface Scenario extends Writes {
  readonly name: string;
  play(testbed: Testbed, namespace: string): Promise<void>;
}

/** What may be written in a namespace, in all. */
interface Writes {
  readonly namespace: string;
  readonly evictions: number;
  /**
   * Of pods: costs that are numbered anew, types that are corrected. A most where it depends on which pod goes, or on
   * what is seen first.
   */
  readonly patches: number | { readonly most: number };
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
  testbed: Testbed,
  declaration: Declaration,
  floor: number,
  play: (workload: Workload) => Promise<void>,
): Promise<void> {
  const workload = await testbed.declare(declaration);
  await workload.ready(declaration.replicas);
  const history = await PodHistory.follow(testbed.cluster, declaration.namespace);
  await play(workload);
  await history.stop();
  for (const { onDemand } of history.states) expect(onDemand).toBeGreaterThanOrEqual(floor);
}

export async function heldBecause(testbed: Testbed, workload: Workload, reason: string): Promise<void> {
  await verdictOn(testbed, workload, reason);
  await waitFor(
    `an Event on ${workload.path}`,
    async () => (await eventsOn(testbed, workload, 'MoveBlocked')).length > 0,
  );
}

/** After a change of the policy a pod gets another rank and cost at most once. */
export const eachOfTenOnce = { most: 10 };

/** All that was written in each namespace, by the API server's own log. What is still to be numbered is waited for. */
export async function expectWrites(testbed: Testbed, expected: readonly Writes[]): Promise<void> {
  const patchesIn = (namespace: string): number =>
    testbed.writes(namespace).filter(({ what }) => what === 'patch pods').length;
  await waitFor(
    'as many patches as there have to be',
    () =>
      expected.every(
        ({ namespace, patches }) => typeof patches === 'object' || patchesIn(namespace) >= patches,
      ),
    { timeoutMs: 20_000, intervalMs: 500 },
    // What is missing is told below, by namespace.
  ).catch(() => undefined);
  const asked: Record<string, object> = {};
  const wanted: Record<string, object> = {};
  for (const { namespace, evictions, patches } of expected) {
    const patched = patchesIn(namespace);
    const others = testbed
      .writes(namespace)
      .map(({ what }) => what)
      .filter((what) => what !== 'patch pods' && what !== 'create pods/eviction');
    const isWithin = typeof patches === 'object' && patched <= patches.most;
    // Evictions by anybody at all.
    asked[namespace] = {
      evictions: testbed.evictions(namespace),
      patches: isWithin ? patches : patched,
      others,
    };
    wanted[namespace] = { evictions, patches, others: [] };
  }
  expect(asked).toEqual(wanted);
}
