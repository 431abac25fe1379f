import { describe, expect, it } from '@jest/globals';
import type { Breaker } from '@spotalis/core';
import { poolNewsMs } from '@spotalis/ledger';
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

/** Long after everything that happens here. */
const NOW = 1_000_000;

function poolsOf(inLedger: ReadonlySet<string> = new Set()) {
  const written: string[] = [];
  const pools = new Pools({
    ledger: {
      openPool: (pool) => Promise.resolve(void written.push(`open ${pool}`)),
      closePool: (pool) => Promise.resolve(void written.push(`close ${pool}`)),
      isPoolOpen: (pool) => inLedger.has(pool),
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
    expect(pools.stateOf('p', NOW).kind).toBe('closed');
    pools.note('p', 'late', openAt(60_000), 60_000);
    expect(pools.stateOf('p', NOW).kind).toBe('open');
    expect(pools.stateOf('other', NOW).kind).toBe('closed');
    expect(written).toEqual(['open p']);
  });

  it('stays closed when they do so one after another', () => {
    const { pools, inDrought } = poolsOf();
    inDrought(0, 50_000, 100_000, 150_000);
    expect(pools.stateOf('p', NOW).kind).toBe('closed');
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
    expect(pools.stateOf('p', NOW).kind).toBe('closed');
    expect(written.at(-1)).toBe('close p');
    const other = poolsOf();
    other.inDrought(0, 1, 2);
    for (const uid of ['w0', 'w1']) other.pools.forget(uid, 10);
    expect(other.pools.stateOf('p', NOW).kind).toBe('open');
    other.pools.note('p', 'w2', closed, 10);
    expect(other.pools.stateOf('p', NOW).kind).toBe('closed');
  });

  it('is closing until every admission has heard of it', () => {
    const { pools, inDrought } = poolsOf();
    inDrought(0, 1, 2);
    pools.note('p', 'w1', halfOpen(true), 10);
    expect(pools.stateOf('p', 9 + poolNewsMs)).toEqual({ kind: 'closing', untilMs: 10 + poolNewsMs });
    expect(pools.stateOf('p', 10 + poolNewsMs)).toEqual({ kind: 'closed' });
  });

  it('is not opened again by those that have not been looked at since', () => {
    const { pools, written, inDrought } = poolsOf();
    inDrought(0, 1, 2, 3);
    pools.note('p', 'w1', halfOpen(true), 10);
    for (const uid of ['w0', 'w2', 'w3']) pools.note('p', uid, openAt(3), 20);
    expect(written).toEqual(['open p', 'close p']);
    for (const uid of ['w0', 'w2', 'w3']) pools.note('p', uid, openAt(30), 30);
    expect(written).toEqual(['open p', 'close p', 'open p']);
  });

  it('that the leader before opened is kept open, and closed when there is capacity', () => {
    const inLedger = new Set(['p']);
    const { pools, written } = poolsOf(inLedger);
    expect(pools.stateOf('p', NOW).kind).toBe('open');
    pools.note('p', 'w0', openAt(0), NOW);
    expect(written).toEqual(['open p']);
    pools.note('p', 'w0', halfOpen(true), NOW);
    inLedger.clear();
    expect(written).toEqual(['open p', 'close p']);
    expect(pools.stateOf('p', NOW).kind).toBe('closing');
  });

  it('lets one workload at a time try', () => {
    const { pools, inDrought } = poolsOf();
    inDrought(0, 1, 2);
    expect(['w0', 'w1'].map((uid) => pools.mayProbe('p', uid))).toEqual([true, true]);
    pools.note('p', 'w0', halfOpen(false), 10);
    expect(['w0', 'w1'].map((uid) => pools.mayProbe('p', uid))).toEqual([true, false]);
    pools.note('p', 'w0', openAt(20), 20);
    expect(pools.mayProbe('p', 'w1')).toBe(true);
    expect(pools.stateOf('p', NOW).kind).toBe('open');
  });

  it('gives the turn to the next one when an attempt does not end', () => {
    const { pools, inDrought } = poolsOf();
    inDrought(0, 1, 2);
    pools.note('p', 'w0', halfOpen(false), 59_999);
    expect(pools.mayProbe('p', 'w1')).toBe(false);
    pools.note('p', 'w0', halfOpen(false), 60_000);
    expect(pools.mayProbe('p', 'w1')).toBe(true);
    // It has shown nothing.
    expect(pools.stateOf('p', NOW).kind).toBe('open');
  });

  it('counts a workload where its placement is now', () => {
    const { pools, inDrought } = poolsOf();
    inDrought(0, 1, 2);
    for (const uid of ['w0', 'w1', 'w2']) pools.note('q', uid, openAt(3), 3);
    expect([pools.stateOf('p', NOW).kind, pools.stateOf('q', NOW).kind]).toEqual(['closed', 'open']);
  });
});
