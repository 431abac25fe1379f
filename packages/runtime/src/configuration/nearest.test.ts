import { describe, expect, it } from '@jest/globals';
import { nearest } from './nearest.ts';

const keys = ['controller.resyncPeriod', 'redis.url', 'scope.excludedNamespaces'];

describe('the nearest key', () => {
  it.each([
    ['controler.resyncPeriod', 'controller.resyncPeriod'],
    ['controller.resyncPeriode', 'controller.resyncPeriod'],
    ['redis.ulr', 'redis.url'],
    ['SCOPE.EXCLUDEDNAMESPACES', 'scope.excludedNamespaces'],
  ])('for %s is %s', (given, expected) => {
    expect(nearest(given, keys)).toBe(expected);
  });

  it('is none when nothing is close', () => {
    expect(nearest('kafka', keys)).toBeUndefined();
  });
});
