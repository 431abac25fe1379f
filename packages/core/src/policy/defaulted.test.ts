import { describe, expect, it } from '@jest/globals';
import { hasSameDefaults, restsOnDefaults } from './defaulted.ts';
import { policyKeys } from './keys.ts';
import { readPolicy } from './policy.ts';

const defaults = { spotPercentage: 70, minOnDemand: 1 };
const read = (workload: Readonly<Record<string, string>>, namespace = {}) =>
  readPolicy({ workload, namespace, defaults });
const percentage = { [policyKeys.spotPercentage]: '40' };
const floor = { [policyKeys.minOnDemand]: '2' };
const mark = (spotPercentage: number, minOnDemand: number) => ({ spotPercentage, minOnDemand });

describe('a policy that rests on defaults', () => {
  it('is one of which an annotation sets at most one number, on the workload or its Namespace', () => {
    expect(restsOnDefaults(read({}))).toBe(true);
    expect(restsOnDefaults(read(percentage))).toBe(true);
    expect(restsOnDefaults(read({}, floor))).toBe(true);
    expect(restsOnDefaults(read(percentage, floor))).toBe(false);
    expect(restsOnDefaults(readPolicy({ workload: {}, namespace: {}, defaults: {} }))).toBe(false);
    expect(restsOnDefaults(read({ [policyKeys.spotPercentage]: 'many' }))).toBe(false);
  });

  it('is compared with what a pod was admitted by, but for what annotations set', () => {
    expect(hasSameDefaults(read({}), mark(70, 1))).toBe(true);
    expect(hasSameDefaults(read({}), mark(70, 2))).toBe(false);
    expect(hasSameDefaults(read({}), mark(60, 1))).toBe(false);
    expect(hasSameDefaults(read(percentage), mark(99, 1))).toBe(true);
    expect(hasSameDefaults(read(percentage), mark(40, 2))).toBe(false);
    expect(hasSameDefaults(read(percentage, floor), mark(99, 9))).toBeNull();
  });

  it('is of a webhook without defaults where a pod without annotations was left alone', () => {
    expect(hasSameDefaults(read({}), null)).toBe(false);
    expect(hasSameDefaults(read(percentage), null)).toBeNull();
  });
});
