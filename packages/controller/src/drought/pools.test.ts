import { describe, expect, it } from '@jest/globals';
import type { Breaker } from '@spotalis/core';
import type { Logger } from '@spotalis/runtime';
import { Pools } from './pools.ts';

const logger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => logger,
};
const openAt = (openedAtMs: number): Breaker => ({
  state: 'open',
  sinceMs: 0,
  openedAtMs,
  backoffMs: 60_000,
  early: true,
});
const halfOpen = (proven: boolean): Breaker => ({
  state: 'half-open',
  sinceMs: 0,
  probedAtMs: 0,
  backoffMs: 60_000,
  proven,
});
const closed: Breaker = { state: 'closed' };

function poolsOf() {
  const written: string[] = [];
  const pools = new Pools({
    ledger: {
      openPool: (pool) => Promise.resolve(void written.push(`open ${pool}`)),
      closePool: (pool) => Promise.resolve(void written.push(`close ${pool}`)),
    },
    logger,
  });
  const inDrought = (...openedAtMs: readonly number[]) =>
    openedAtMs.forEach((atMs, index) => pools.note('p', `w${index}`, openAt(atMs), atMs));
  return { pools, written, inDrought };
}

describe('the breaker of a placement', () => {
  it('opens when three workloads find no capacity within a minute', () => {
    const { pools, written, inDrought } = poolsOf();
    inDrought(0, 30_000);
    expect(pools.isOpen('p')).toBe(false);
    pools.note('p', 'late', openAt(60_000), 60_000);
    expect(pools.isOpen('p')).toBe(true);
    expect(pools.isOpen('other')).toBe(false);
    expect(written).toEqual(['open p']);
  });

  it('stays closed when they do so one after another', () => {
    const { pools, inDrought } = poolsOf();
    inDrought(0, 50_000, 100_000, 150_000);
    expect(pools.isOpen('p')).toBe(false);
  });

  it('is renewed while a workload is in drought, now and then', () => {
    const { pools, written, inDrought } = poolsOf();
    inDrought(0, 1, 2);
    pools.note('p', 'w0', openAt(0), 29_000);
    pools.note('p', 'w0', openAt(0), 31_000);
    expect(written).toEqual(['open p', 'open p']);
  });

  it('closes when one of them finds capacity, or none is left', () => {
    const { pools, written, inDrought } = poolsOf();
    inDrought(0, 1, 2);
    pools.note('p', 'w1', halfOpen(true), 10);
    expect(pools.isOpen('p')).toBe(false);
    expect(written.at(-1)).toBe('close p');
    const other = poolsOf();
    other.inDrought(0, 1, 2);
    for (const uid of ['w0', 'w1']) other.pools.forget(uid);
    expect(other.pools.isOpen('p')).toBe(true);
    other.pools.note('p', 'w2', closed, 10);
    expect(other.pools.isOpen('p')).toBe(false);
  });

  it('lets one workload at a time try', () => {
    const { pools, inDrought } = poolsOf();
    inDrought(0, 1, 2);
    expect(['w0', 'w1'].map((uid) => pools.mayProbe('p', uid))).toEqual([true, true]);
    pools.note('p', 'w0', halfOpen(false), 10);
    expect(['w0', 'w1'].map((uid) => pools.mayProbe('p', uid))).toEqual([true, false]);
    pools.note('p', 'w0', openAt(20), 20);
    expect(pools.mayProbe('p', 'w1')).toBe(true);
    expect(pools.isOpen('p')).toBe(true);
  });

  it('counts a workload where its placement is now', () => {
    const { pools, inDrought } = poolsOf();
    inDrought(0, 1, 2);
    for (const uid of ['w0', 'w1', 'w2']) pools.note('q', uid, openAt(3), 3);
    expect([pools.isOpen('p'), pools.isOpen('q')]).toEqual([false, true]);
  });
});
