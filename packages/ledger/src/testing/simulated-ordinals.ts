import { type CapacityType, drift, ordinalType, type PolicyNumbers, targetSpot } from '@spotalis/core';
import { MemoryLedger } from '../memory/memory-ledger.ts';
import type { Random } from './random.ts';

const workloadUid = 'stateful';

/**
 * A StatefulSet whose pods the ledger steers by their ordinals, and the controller's rule of repair. What happens to it
 * changes types only through admissions, as in a cluster.
 */
export class SimulatedOrdinals {
  policy: PolicyNumbers;
  moves = 0;
  readonly #random: Random;
  readonly #ledger = new MemoryLedger({ now: () => 0 });
  #types: CapacityType[] = [];
  #admissions = 0;
  #breakerVersion = 0;

  constructor(random: Random, policy: PolicyNumbers) {
    this.#random = random;
    this.policy = policy;
  }

  get replicas(): number {
    return this.#types.length;
  }

  async scale(replicas: number): Promise<void> {
    this.#types.length = Math.min(replicas, this.#types.length);
    while (this.#types.length < replicas) await this.#create(this.#types.length);
  }

  /** A node goes, or somebody deletes the pod. */
  async restart(): Promise<void> {
    if (this.replicas > 0) await this.#create(this.#random.integer(0, this.replicas - 1));
  }

  /** Spot has capacity, or not: then what comes up meanwhile is a substitute. */
  async drought(begins: boolean): Promise<void> {
    const next = { state: begins ? 'open' : 'closed' } as const;
    await this.#ledger.setBreaker(workloadUid, next, this.#breakerVersion++);
  }

  /** Spot pods too many or too few at a size that a scale-down would reach. */
  driftAt(replicas: number): number {
    const spot = this.#types.slice(0, replicas).filter((type) => type === 'spot').length;
    return drift(this.policy, { spot, onDemand: replicas - spot });
  }

  onDemandAt(replicas: number): number {
    return replicas - targetSpot(this.policy, replicas) - this.driftAt(replicas);
  }

  /** Ordinals on another type than their number says. */
  mismatched(): number {
    return this.#types.filter((type, ordinal) => type !== ordinalType(this.policy, ordinal, 0)).length;
  }

  /** First the ordinals that the floor needs, then as many as the count is off, the highest first. */
  async repair(): Promise<void> {
    for (let ordinal = Math.min(this.policy.minOnDemand, this.replicas) - 1; ordinal >= 0; ordinal--) {
      if (this.#types[ordinal] === 'spot') await this.#move(ordinal);
    }
    for (let off = this.driftAt(this.replicas); off !== 0; off = this.driftAt(this.replicas)) {
      const surplus = off > 0 ? 'spot' : 'on-demand';
      const ordinal = this.#types.findLastIndex(
        (type, at) => type === surplus && ordinalType(this.policy, at, 0) !== surplus,
      );
      if (ordinal < 0) throw new Error(`${off} off, and every ${surplus} pod is in its place`);
      await this.#move(ordinal);
    }
  }

  async #move(ordinal: number): Promise<void> {
    this.moves++;
    await this.#create(ordinal);
  }

  async #create(ordinal: number): Promise<void> {
    const steering = await this.#ledger.steer({
      workloadUid,
      ordinal,
      token: `call-${this.#admissions++}`,
      wanted: ordinalType(this.policy, ordinal, 0),
    });
    if (steering.kind !== 'steered') throw new Error('not steered');
    this.#types[ordinal] = steering.type;
  }
}
