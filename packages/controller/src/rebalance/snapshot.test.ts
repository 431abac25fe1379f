import { describe, expect, it } from '@jest/globals';
import { readPolicy, type RebalanceSettings } from '@spotalis/core';
import { Bypass } from '../kernel/disruption/bypass.ts';
import { Holds } from '../kernel/disruption/holds.ts';
import { Register } from '../kernel/disruption/register.ts';
import { Rooms } from '../observe/rooms.ts';
import { aDeployment, aManagedCluster } from '../testing/objects.ts';
import { Changes } from './changes.ts';
import { takeSnapshot } from './snapshot.ts';

/** What the snapshot says of the drought, and how often that was looked at, which writes to the ledger. */
function droughtIn(readOnly: boolean) {
  const cluster = aManagedCluster();
  let looks = 0;
  const droughts = {
    stateOf() {
      looks++;
      return { kind: 'watched' };
    },
  };
  const { drought } = takeSnapshot(
    {
      cluster,
      rooms: new Rooms(cluster),
      changes: new Changes(cluster, () => 0),
      register: new Register(),
      holds: new Holds(() => 0),
      bypass: new Bypass(),
      placeholders: { evidence: () => ({ kind: 'none' }) },
      droughts: droughts as never,
      settings: () => ({ readOnly, maxMovesPerMinute: 60 }) as RebalanceSettings,
      webhook: () => ({ kind: 'serving' }),
    },
    aDeployment(),
    readPolicy({ workload: {}, namespace: {}, defaults: {} }),
    { kind: 'reachable', counts: new Map(), breaker: { state: 'open', version: 1 } },
    0,
  );
  return { kind: drought.kind, looks };
}

describe('a snapshot', () => {
  it('tells of the drought', () => {
    expect(droughtIn(false)).toEqual({ kind: 'watched', looks: 1 });
  });

  it('leaves droughts alone in read-only mode, because to look at them is to write', () => {
    expect(droughtIn(true)).toEqual({ kind: 'unwatched', looks: 0 });
  });
});
