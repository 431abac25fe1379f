import { expect } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { drift, policyKeys } from '@spotalis/core';
import type { PodCreations } from '../workloads/creations.ts';
import type { Declaration, Split, Workload } from '../workloads/workload.ts';
import { verdictOn } from './moves.ts';
import { annotate } from './repair.ts';
import type { Testbed } from './testbed.ts';

interface Fault {
  /** How many of the burst's pods are to be admitted before it strikes. */
  readonly after: number;
  readonly strike: () => unknown;
}

/** A burst with a fault in its middle. Fails when the fault came so late that it proved nothing. */
export async function burstWith(testbed: Testbed, declaration: Declaration, fault: Fault): Promise<Workload> {
  const before = await testbed.admissions();
  const workload = await testbed.declare(declaration);
  const admitted = (await testbed.admitted(before + fault.after)) - before;
  await fault.strike();
  if (admitted > (declaration.replicas * 2) / 3) {
    throw new Error(`the fault came after ${admitted} of ${declaration.replicas} pods: too late to matter`);
  }
  return workload;
}

const paused = { [policyKeys.paused]: 'true' };

interface Residue {
  readonly namespace: string;
  /** How far off it is, and how many more it may be by what came too late. */
  off: number;
  late: number;
}

/**
 * What faults leave of bursts. Nothing of it is repaired until all faults are over, so that no move is amid one, and
 * then all of it.
 */
export class Residues {
  readonly #testbed: Testbed;
  readonly #all = new Map<Workload, Residue>();

  constructor(testbed: Testbed) {
    this.#testbed = testbed;
  }

  async burstWith(declaration: Declaration, fault: Fault): Promise<Workload> {
    const workload = await burstWith(this.#testbed, { ...declaration, annotations: paused }, fault);
    this.#all.set(workload, { namespace: declaration.namespace, off: Number.NaN, late: Number.NaN });
    return workload;
  }

  /** How far off it is now. */
  note(workload: Workload, split: Split, late: number): number {
    const residue = this.#all.get(workload);
    if (residue === undefined) throw new Error(`${workload.path} was no burst with a fault`);
    residue.off = driftOf(workload, split);
    residue.late = late;
    return residue.off;
  }

  /** B6: with as many evictions as it is off. A pod that came too late counts by its node, and not as it was counted. */
  async expectRepaired(): Promise<void> {
    expect(this.#testbed.evictions()).toBe(0);
    const resumed = annotate({ [policyKeys.paused]: 'false' });
    await Promise.all([...this.#all.keys()].map((workload) => workload.patch(resumed)));
    for (const [workload, { namespace, off, late }] of this.#all) {
      await verdictOn(this.#testbed, workload, 'Balanced');
      const evictions = this.#testbed.evictions(namespace);
      process.stdout.write(`${namespace}: ${off} off, ${evictions} evictions\n`);
      expect(Math.abs(evictions - Math.abs(off))).toBeLessThanOrEqual(late);
      if (late === 0) expect(driftOf(workload, await workload.split())).toBe(0);
    }
  }
}

/** Spot pods too many, or below 0 too few; a pod that was not steered is no spot pod. */
export function driftOf({ policy }: Workload, { spot, onDemand, unsteered }: Split): number {
  return drift(policy, { spot, onDemand: onDemand + unsteered });
}

/** How so many pods were created: one can be listed before its creation is in the log. */
export function creationsOf(
  testbed: Testbed,
  { namespace, replicas }: Pick<Declaration, 'namespace' | 'replicas'>,
): Promise<PodCreations> {
  return waitFor('the log of all creations', () => testbed.creations(namespace), {
    until: ({ count }) => count >= replicas,
  });
}

/**
 * However badly things go, every pod is created, and steered while the API server waits for it. What a machine takes
 * past that because it is too busy shows in the log of the test, and may be off on top of the bound. Returns how many
 * that are.
 */
export async function expectSteeredInTime(testbed: Testbed, declaration: Declaration): Promise<number> {
  const { refused, bypassed } = await creationsOf(testbed, declaration);
  const { name, namespace, replicas } = declaration;
  expect(refused).toBe(0);
  if (bypassed > 0) {
    const share = `${bypassed} of ${replicas} admissions`;
    process.stdout.write(`${namespace}/${name}: ${share} took longer than the API server waits\n`);
  }
  expect(bypassed).toBeLessThan(replicas / 4);
  return bypassed;
}

/** Nothing is moved, but for pods that came too late to be steered (B6). */
export function expectNoEvictionsBut(testbed: Testbed): void {
  expect(testbed.evictions()).toBeLessThanOrEqual(testbed.creations().bypassed);
}

/** On target, each pod of it; where some were late, off by no more than they are. */
export function expectOnTargetBut(late: number, workload: Workload, split: Split): void {
  const { spot, onDemand, unsteered } = split;
  if (late === 0) expect(split).toEqual(workload.exactly(spot + onDemand + unsteered));
  else expect(Math.abs(driftOf(workload, split))).toBeLessThanOrEqual(late);
}

/**
 * A law that holds but for the decisions that missed their deadline says nothing when most of them did. A machine that
 * is out of breath misses some.
 */
export function isMostlyDecided(missed: number, replicas: number): boolean {
  return missed <= replicas / 4;
}

export function expectMostlyDecided(missed: number, replicas: number): void {
  expect(isMostlyDecided(missed, replicas) ? 'mostly' : `${missed} of ${replicas} missed`).toBe('mostly');
}

const attempts = 3;
let bursts = 0;

/**
 * Nothing of a fault is left: the next Deployment is exact, but for what a busy machine takes past a deadline. Where
 * that is much of it, another one has to show that the ledger decides again.
 */
export async function expectExactBurst(testbed: Testbed, replicas = 60): Promise<void> {
  let missed = replicas;
  for (let attempt = 0; attempt < attempts && !isMostlyDecided(missed, replicas); attempt++) {
    const burst = {
      name: 'web',
      namespace: `after-${bursts++}`,
      replicas,
      policy: { spotPercentage: 70, minOnDemand: 2 },
      annotations: paused,
    };
    const before = await testbed.decidedAlone();
    const workload = await testbed.declare(burst);
    const split = await workload.splitWhenCreated(replicas);
    const alone = (await testbed.decidedAlone()) - before;
    missed = (await expectSteeredInTime(testbed, burst)) + alone;
    expectOnTargetBut(missed, workload, split);
  }
  expectMostlyDecided(missed, replicas);
}
