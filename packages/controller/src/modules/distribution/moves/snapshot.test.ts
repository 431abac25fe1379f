import { describe, expect, it } from '@jest/globals';
import { preparePlacement, readNodeLabels, readPolicy, type RebalanceSettings } from '@spotalis/core';
import type { StoredBreaker } from '@spotalis/ledger';
import type { Logger } from '@spotalis/runtime';
import { Droughts } from '../droughts/droughts.ts';
import { Shapes } from '../droughts/shapes.ts';
import { Bypass } from '../webhook/bypass.ts';
import { SharedDefaults } from '../webhook/shared-defaults.ts';
import { Holds } from '../../../kernel/disruption/holds.ts';
import { Register } from '../../../kernel/disruption/register.ts';
import { Rooms } from '../../../kernel/cluster/rooms.ts';
import { aDeployment, aManagedCluster } from '../../../testing/objects.ts';
import { Changes } from './changes.ts';
import { observe, type SnapshotSources, takeSnapshot } from './snapshot.ts';

const logger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => logger,
};
const labels = readNodeLabels({ spot: ['capacity=spot'], onDemand: ['capacity=on-demand'] });
if (!labels.ok) throw new Error('labels');
const placement = preparePlacement(labels.labels, {
  tolerations: [],
  affinity: { spot: [], 'on-demand': [] },
  spreadSpotOverZones: false,
});
const policyOf = (percentage: string) =>
  readPolicy({ workload: { 'spotalis.io/spot-percentage': percentage }, namespace: {}, defaults: {} });
const memo = { sinceMs: 0, openedAtMs: 0, backoffMs: 60_000, early: false };

/** Workloads of one placement, and everything that anybody writes because of them. */
function aWorld(readOnly = false) {
  const cluster = aManagedCluster();
  const writes: string[] = [];
  const ledger = {
    setBreaker: () => Promise.reject(new Error('nothing was decided')),
    openPool: () => Promise.resolve(void writes.push('pool opened')),
    closePool: () => Promise.resolve(void writes.push('pool closed')),
    isPoolOpen: () => false,
  };
  const bulletins = {
    note: () => void writes.push('bulletin'),
    forget: () => undefined,
  };
  const clock = { nowMs: 1_000 };
  const changes = new Changes(cluster, () => clock.nowMs);
  const settings = {
    readOnly,
    placement,
    fallback: { maxRemovalsPerMinute: 1, backoff: { initialMs: 60_000, maxMs: 60_000 } },
  };
  const sources: SnapshotSources = {
    cluster,
    rooms: new Rooms(cluster),
    changes,
    register: new Register(),
    isSpent: () => false,
    holds: new Holds(() => 0),
    refusedAnnotations: { of: () => null },
    moves: { historyOf: () => null, unproven: () => 0 },
    bypass: new Bypass(),
    sharedDefaults: new SharedDefaults(),
    placeholders: { evidence: () => ({ kind: 'none' }) },
    droughts: new Droughts({
      cluster,
      ledger,
      shapes: new Shapes(cluster, () => clock.nowMs),
      bulletins,
      logger,
    }),
    settings: () => settings as RebalanceSettings,
    webhook: () => ({ kind: 'serving' }),
  };
  const breaker = { state: 'open', version: 1, memo: JSON.stringify(memo) } as StoredBreaker;
  const reading = { kind: 'reachable', counts: new Map(), breaker } as const;
  const workloads = ['a', 'b', 'c'].map((name) => aDeployment({ name }));
  return {
    writes,
    clock,
    observe: (percentage = '50') => {
      for (const one of workloads) observe(sources, one, policyOf(percentage), reading, clock.nowMs);
    },
    snapshots: (percentage = '50') =>
      workloads.map((one) => takeSnapshot(sources, one, policyOf(percentage), reading, clock.nowMs)),
  };
}

describe('a snapshot', () => {
  it('writes nothing and changes nothing, however many are taken, though three workloads are in one drought', () => {
    const { snapshots, writes, clock } = aWorld();
    const first = snapshots();
    expect(first.map(({ drought }) => drought.kind)).toEqual(['watched', 'watched', 'watched']);
    clock.nowMs += 5_000;
    snapshots('60');
    clock.nowMs -= 5_000;
    expect(snapshots()).toEqual(first);
    expect(writes).toEqual([]);
  });

  it('is of what was observed before: a pool that three workloads open, a policy that changed', () => {
    const { observe: look, snapshots, writes, clock } = aWorld();
    look();
    expect(writes.toSorted()).toEqual(['bulletin', 'bulletin', 'bulletin', 'pool opened']);
    expect(snapshots().map(({ drought }) => drought.kind === 'watched' && drought.pool.kind)).toEqual([
      'open',
      'open',
      'open',
    ]);
    clock.nowMs += 5_000;
    look('60');
    expect(snapshots('60').map(({ workload }) => workload.policyChangedAtMs)).toEqual([6_000, 6_000, 6_000]);
  });

  it('leaves droughts alone in read-only mode, and so does a look', () => {
    const { observe: look, snapshots, writes } = aWorld(true);
    look();
    expect(snapshots().map(({ drought }) => drought.kind)).toEqual(['unwatched', 'unwatched', 'unwatched']);
    expect(writes).toEqual([]);
  });
});
