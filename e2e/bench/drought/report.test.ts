import { describe, expect, it } from '@jest/globals';
import type { PoolTrials } from './pool.ts';
import { droughtTables, type Round } from './report.ts';
import type { LaneName, Trial } from './trial.ts';

const trial = (lane: LaneName, change: Partial<Trial> = {}): Trial => ({
  lane,
  bridgedSeconds: lane === 'never' ? null : 10,
  fewestReady: 3,
  missingReplicaSeconds: 50,
  waitingPeriods: 1,
  stuckRemoved: 28,
  substitutes: 28,
  backSeconds: 80,
  inVain: 0,
  steppedBack: 0,
  ...change,
});

const round = (killsLeader: boolean, ...trials: readonly Trial[]): Round => {
  const policy = { spotPercentage: 70, minOnDemand: 2 };
  return { drought: { name: 'r', from: 10, to: 40, policy, droughtMs: 30_000, killsLeader }, trials };
};

const some = { workloads: 4, pods: 16, readySeconds: 10, stuckRemoved: 8 };
const pool: PoolTrials = { first: some, later: some, backSeconds: 6, substitutes: 16, inVain: 0 };
const settings = { fallbackAfterSeconds: 10, from: 10, to: 40, droughtSeconds: 30 };

describe('the tables of droughts', () => {
  const [table] = droughtTables(
    [
      round(false, trial('spotalis', { bridgedSeconds: 11 }), trial('never')),
      round(false, trial('spotalis', { inVain: 2 }), trial('never')),
      round(true, trial('spotalis', { bridgedSeconds: 17, inVain: 1 }), trial('never')),
    ],
    pool,
    settings,
  );
  const row = (start: string) => table?.rows.find(({ measure }) => String(measure).startsWith(start));

  it('keep rounds apart whose leader was killed, and say nothing of what never happened', () => {
    expect(row('From the loss')).toMatchObject({ spotalis: 10, killed: 17, never: null });
  });

  it('add up over all rounds what should not be', () => {
    expect(row('Evictions in vain')).toMatchObject({ spotalis: 2, killed: 1, never: 0 });
  });
});
