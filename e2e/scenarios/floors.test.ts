/** @needs nothing */
import { describe, expect, it } from '@jest/globals';
import { breachesOf, type Moment } from './floors.ts';

const workload = 'shop/web';
const floor = (version: number, count: number): Moment => ({ version, workload, floor: count });
const serves = (version: number, pod: string): Moment => ({
  version,
  workload,
  pod,
  state: 'serves on on-demand',
});
const isNotReady = (version: number, pod: string): Moment => ({ version, workload, pod, state: 'does not' });
const ends = (version: number, pod: string): Moment => ({ version, workload, pod, state: 'ends' });

describe('the floor at each eviction', () => {
  const twoServe = [floor(1, 2), serves(2, 'a'), serves(3, 'b')];

  it.each<{ what: string; moments: readonly Moment[]; breaches: readonly string[] }>([
    { what: 'one of just enough', moments: [...twoServe, ends(4, 'a')], breaches: ['a: leaves 1 of 2'] },
    {
      what: 'a Ready one while another is not',
      moments: [...twoServe, serves(4, 'c'), isNotReady(5, 'b'), ends(6, 'a')],
      breaches: ['a: leaves 1 of 2'],
    },
    { what: 'one of more', moments: [...twoServe, serves(4, 'c'), ends(5, 'a')], breaches: [] },
    {
      what: 'one that does not serve',
      moments: [...twoServe, isNotReady(4, 'a'), ends(5, 'a')],
      breaches: [],
    },
    { what: 'one that somebody else takes', moments: [...twoServe, ends(4, 'b')], breaches: [] },
    { what: 'one after a lower floor', moments: [...twoServe, floor(4, 1), ends(5, 'a')], breaches: [] },
    {
      what: 'one after a lower floor that another watch tells later',
      moments: [...twoServe, ends(5, 'a'), floor(4, 1)],
      breaches: [],
    },
    {
      what: 'one before a lower floor',
      moments: [...twoServe, floor(5, 1), ends(4, 'a')],
      breaches: ['a: leaves 1 of 2'],
    },
  ])('to evict $what is told as it is', ({ moments, breaches }) => {
    expect(breachesOf(moments, new Set(['a', 'c']))).toEqual(breaches);
  });
});
