import { describe, expect, it } from '@jest/globals';
import type { CapacityType } from '@spotalis/core';
import { Estimates } from './estimates.ts';

const decision = (token: string, type: CapacityType, rank: number) => ({
  token,
  type,
  rank,
  substitute: false,
});

describe('estimates', () => {
  it('know nothing of a revision whose pods were never counted', () => {
    const estimates = new Estimates(() => 0);
    estimates.replicasRead('rs', 5);
    estimates.decidedAlone('rs', decision('a', 'spot', 0));
    expect(estimates.of('rs')).toBeUndefined();
  });

  it('add to a list the own decisions that are not in it yet', () => {
    const estimates = new Estimates(() => 0);
    estimates.decidedAlone('rs', decision('listed', 'spot', 0));
    estimates.decidedAlone('rs', decision('unseen', 'on-demand', 0));
    estimates.replicasRead('rs', 5);
    estimates.listSaid('rs', { spot: 1, onDemand: 0 }, ['listed']);
    expect(estimates.of('rs')).toEqual({
      counts: { spot: 1, onDemand: 1 },
      replicas: 5,
    });
  });

  it('stop counting a decision whose pod did not come in five seconds and some', () => {
    let now = 0;
    const estimates = new Estimates(() => now);
    estimates.listSaid('rs', { spot: 0, onDemand: 0 }, []);
    estimates.decidedAlone('rs', decision('rejected', 'spot', 0));
    now = 5_000;
    expect(estimates.of('rs')?.counts).toEqual({ spot: 1, onDemand: 0 });
    now = 5_626;
    expect(estimates.of('rs')?.counts).toEqual({ spot: 0, onDemand: 0 });
  });

  it('do not count twice what the counts of the ledger hold', () => {
    const estimates = new Estimates(() => 0);
    estimates.ledgerSaid('rs', { spot: 3, onDemand: 1 }, decision('a', 'spot', 2));
    expect(estimates.of('rs')?.counts).toEqual({ spot: 3, onDemand: 1 });
    estimates.decidedAlone('rs', decision('b', 'on-demand', 1));
    expect(estimates.of('rs')?.counts).toEqual({ spot: 3, onDemand: 2 });
  });

  it('count decisions of the ledger that a later list does not show', () => {
    const estimates = new Estimates(() => 0);
    estimates.ledgerSaid('rs', { spot: 1, onDemand: 0 }, decision('a', 'spot', 0));
    estimates.listSaid('rs', { spot: 0, onDemand: 0 }, []);
    expect(estimates.of('rs')?.counts).toEqual({ spot: 1, onDemand: 0 });
  });
});
