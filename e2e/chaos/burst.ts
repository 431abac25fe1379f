import { expect } from '@jest/globals';
import { drift } from '@spotalis/core';
import type { Stage } from '../scenarios/stage.ts';
import type { Declaration, Split, Workload } from '../scenarios/workload.ts';

interface Fault {
  /** How many of the burst's pods are to be admitted before it strikes. */
  readonly after: number;
  readonly strike: () => unknown;
}

/** A burst with a fault in its middle. Fails when the fault came so late that it proved nothing. */
export async function burstWith(stage: Stage, declaration: Declaration, fault: Fault): Promise<Workload> {
  const before = await stage.admissions();
  const workload = await stage.declare(declaration);
  await stage.admitted(before + fault.after);
  const admitted = (await stage.admissions()) - before;
  await fault.strike();
  if (admitted > (declaration.replicas * 2) / 3) {
    throw new Error(`the fault came after ${admitted} of ${declaration.replicas} pods: too late to matter`);
  }
  return workload;
}

/** Spot pods too many, or below 0 too few; a pod that was not steered is no spot pod. */
export function driftOf({ policy }: Workload, { spot, onDemand, unsteered }: Split): number {
  return drift(policy, { spot, onDemand: onDemand + unsteered });
}

/** Each delayed answer, and before it the delayed answer to a new connection's handshake. */
const delayedPieces = 2;
/** The default of the configuration. */
const decisionTimeoutMs = 1_500;

/** However badly things go, every pod is created, steered, and in time. */
export function expectAllSteeredInTime(stage: Stage, namespace: string, delayAnswersMs: number): void {
  const { refused, bypassed, slowestMs } = stage.creations(namespace);
  expect({ refused, bypassed }).toEqual({ refused: 0, bypassed: 0 });
  expect(slowestMs).toBeLessThanOrEqual(decisionTimeoutMs + delayedPieces * delayAnswersMs);
}

let bursts = 0;

/** Nothing of a fault is left: the next Deployment is exact. */
export async function expectExactBurst(stage: Stage, replicas = 60): Promise<void> {
  const workload = await stage.declare({
    name: 'web',
    namespace: `after-${bursts++}`,
    replicas,
    policy: { spotPercentage: 70, minOnDemand: 2 },
  });
  expect(await workload.splitWhenCreated(replicas)).toEqual(workload.exactly(replicas));
}
