// Bound once: under a test runner each lookup of a global costs more than the arithmetic, and the exhaustive tests
// make tens of millions of them.
const { floor, max, min } = Math;

/** The two numbers of a policy. Both are integers: 0..100 and 0..10000. */
export interface PolicyNumbers {
  readonly spotPercentage: number;
  readonly minOnDemand: number;
}

/** How many pods of each type there are. Their sum is the N of every formula here. */
export interface TypeCounts {
  readonly spot: number;
  readonly onDemand: number;
}

/** With the pods whose type nobody knows yet. Each is a replica like the others, and may be of either type. */
export interface PodCounts extends TypeCounts {
  /** Absent: none. */
  readonly untyped?: number;
}

/**
 * How many of `replicas` pods belong on spot: the share rounded up, less where the floor needs the room.
 *
 * Integers throughout. `ceil(n * (p / 100))` is one too many for 290 pairs up to n = 2000, n = 100 at 7 % among
 * them, because p / 100 is not a binary fraction.
 */
export function targetSpot(policy: PolicyNumbers, replicas: number): number {
  const share = floor((replicas * policy.spotPercentage + 99) / 100);
  return max(0, min(share, replicas - policy.minOnDemand));
}

export function targetOnDemand(policy: PolicyNumbers, replicas: number): number {
  return replicas - targetSpot(policy, replicas);
}

/**
 * Spot pods too many (above 0) or too few (below 0) against a target. Its absolute value is the number of moves that
 * repair it. A pod of an unknown type may be either: this is what is certain whichever it is.
 */
export function driftFrom(target: number, { spot, untyped = 0 }: PodCounts): number {
  return spot > target ? spot - target : min(0, spot + untyped - target);
}

/** Of pods that share one target, as those of one revision do. */
export function drift(policy: PolicyNumbers, counts: PodCounts): number {
  const replicas = counts.spot + counts.onDemand + (counts.untyped ?? 0);
  return driftFrom(targetSpot(policy, replicas), counts);
}

/** `value`, or the nearer of the two ends. */
export function clamp(value: number, least: number, most: number): number {
  return max(least, min(most, value));
}

/** The spot count nearest to the target that `more` creations can reach: no creation turns an existing pod. */
export function spotAfterGrowth(policy: PolicyNumbers, counts: TypeCounts, more: number): number {
  const target = targetSpot(policy, counts.spot + counts.onDemand + more);
  return clamp(target, counts.spot, counts.spot + more);
}

/** The spot count nearest to the target that `survivors` of these pods can hold, whichever are removed. */
export function spotAmongSurvivors(policy: PolicyNumbers, counts: TypeCounts, survivors: number): number {
  return clamp(targetSpot(policy, survivors), survivors - counts.onDemand, counts.spot);
}
