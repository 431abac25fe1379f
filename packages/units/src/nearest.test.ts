import { describe, expect, it } from '@jest/globals';
import { nearest } from './nearest.ts';

const flags = ['spot-percentage', 'min-on-demand', 'disruption-schedule', 'paused'];
const paths = ['controller.resyncPeriod', 'redis.url', 'scope.excludedNamespaces'];

describe('the nearest name', () => {
  it.each([
    ['spot-percent', 'spot-percentage'],
    ['spotPercentage', 'spot-percentage'],
    ['spot_percentage', 'spot-percentage'],
    ['mininum-on-demand', 'min-on-demand'],
    ['pasued', 'paused'],
    ['schedule', 'disruption-schedule'],
  ])('to %s is %s', (given, expected) => {
    expect(nearest(given, flags)).toBe(expected);
  });

  it.each([
    ['controler.resyncPeriod', 'controller.resyncPeriod'],
    ['controller.resyncPeriode', 'controller.resyncPeriod'],
    ['redis.ulr', 'redis.url'],
    ['SCOPE.EXCLUDEDNAMESPACES', 'scope.excludedNamespaces'],
  ])('to the path %s is %s', (given, expected) => {
    expect(nearest(given, paths, { parts: false })).toBe(expected);
  });

  it.each(['kafka', 'x', 'z'.repeat(10_000)])('to %.20s is none', (given) => {
    expect(nearest(given, flags)).toBeNull();
    expect(nearest(given, paths, { parts: false })).toBeNull();
  });

  it('takes a part for the whole only where it may', () => {
    expect(nearest('excludedNamespaces', paths)).toBe('scope.excludedNamespaces');
    expect(nearest('controller', paths, { parts: false })).toBeNull();
  });
});
