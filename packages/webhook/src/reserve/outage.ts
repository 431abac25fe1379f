import { type CapacityType, type PolicyNumbers, targetSpot, type TypeCounts } from '@spotalis/core';

/** The fractional part of the golden ratio: its multiples fill [0, 1) as evenly as any sequence can. */
const GOLDEN = 0.618_033_988_749_895;

/** A new number in [0, 1) for each decision, spread evenly over any run of them. */
export class GoldenSequence {
  #last: number;

  /** `start` has to differ between replicas, or all of them choose alike. */
  constructor(start: number) {
    this.#last = start;
  }

  next(): number {
    this.#last = (this.#last + GOLDEN) % 1;
    return this.#last;
  }
}

/**
 * The type of the next pod when each replica of ours decides on its own: the floor first, then each pod gets spot
 * with the share of the pods still to come that should be spot. To fill the deficit that one sees would be wrong:
 * all replicas see the same one, and each would fill it.
 */
export function typeOnOwn(
  policy: PolicyNumbers,
  counts: TypeCounts,
  replicas: number,
  draw: () => number,
): CapacityType {
  if (counts.onDemand < policy.minOnDemand) {
    return 'on-demand';
  }
  const present = counts.spot + counts.onDemand;
  const wanted = Math.max(replicas, present + 1);
  const share = (targetSpot(policy, wanted) - counts.spot) / (wanted - present);
  return draw() < share ? 'spot' : 'on-demand';
}
