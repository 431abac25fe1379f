import type { PolicyNumbers } from './target.ts';

/** The numbers as a pod carries them, for people and for `explain`: "70/2" is 70 % and a floor of 2. */
export function formatPolicyMark(numbers: PolicyNumbers): string {
  return `${numbers.spotPercentage}/${numbers.minOnDemand}`;
}

/** Null for anything that was not written by `formatPolicyMark`. */
export function parsePolicyMark(text: string): PolicyNumbers | null {
  const match = /^(\d{1,3})\/(\d{1,5})$/.exec(text);
  if (match === null) return null;
  const numbers = { spotPercentage: Number(match[1]), minOnDemand: Number(match[2]) };
  return numbers.spotPercentage <= 100 && numbers.minOnDemand <= 10_000 ? numbers : null;
}
