import type { Sizes } from '../cluster/size.ts';
import { type ResizeHold, resizeReasons, type Retry } from './hold.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 300_000;
const SLOWLY_MS = 600_000;
const UNCHANGED_MS = 3_600_000;

/** What a resize that failed leaves behind, by pod. */
export interface ResizeBackoff {
  readonly hold: ResizeHold;
  readonly failures: number;
  readonly untilMs: number;
  /** Another node or another size is a new question where the answer was about these. */
  readonly node: string | null;
  readonly to: Sizes;
}

/**
 * `random`: of [0, 1), so that pods refused together do not come back together. `leastMs`: what the server asks for.
 */
export function backOff(
  previous: ResizeBackoff | undefined,
  failed: { readonly hold: ResizeHold; readonly node: string | null; readonly to: Sizes },
  nowMs: number,
  random: number,
  leastMs = 0,
): ResizeBackoff {
  const failures = (previous?.failures ?? 0) + 1;
  const delayMs = delays[resizeReasons[failed.hold.reason].retry](failures) * (1 + random / 2);
  return { ...failed, failures, untilMs: nowMs + Math.max(delayMs, leastMs) };
}

const delays: Readonly<Record<Retry, (failures: number) => number>> = {
  soon: (failures) => Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS),
  slowly: () => SLOWLY_MS,
  changed: () => UNCHANGED_MS,
};

/** Whether the same would only be refused again. */
export function isBackingOff(
  { hold, untilMs, node, to }: ResizeBackoff,
  asked: { readonly node: string | null; readonly to: Sizes },
  nowMs: number,
): boolean {
  if (nowMs >= untilMs) return false;
  return resizeReasons[hold.reason].retry !== 'changed' || (node === asked.node && areSame(to, asked.to));
}

const areSame = (some: Sizes, others: Sizes): boolean => textOf(some) === textOf(others);

const textOf = (sizes: Sizes): string =>
  JSON.stringify(
    [...sizes]
      .map(([name, { requests, limits }]) => [name, sorted(requests), sorted(limits)] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );

const sorted = (amounts: Readonly<Record<string, number>>) =>
  Object.entries(amounts).toSorted(([one], [other]) => (one < other ? -1 : 1));
