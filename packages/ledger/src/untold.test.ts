import { describe, expect, it } from '@jest/globals';
import { UntoldDecisions } from './untold.ts';

const revision = (replicaSetUid: string) => ({ workloadUid: 'w', replicaSetUid });
const alone = (token: string) => ({ token, type: 'spot' as const, rank: 0, substitute: false });

describe('decisions that a ledger was not told of', () => {
  it('are kept until it is told, each by itself', () => {
    const untold = new UntoldDecisions(8_000, () => 0);
    untold.add(revision('a'), alone('1'));
    untold.add(revision('a'), alone('2'));
    untold.add(revision('b'), alone('3'));
    untold.remove(revision('a'), ['1']);
    expect(untold.of(revision('a')).map(({ token }) => token)).toEqual(['2']);
    untold.remove(revision('a'), ['2']);
    expect(untold.revisions()).toEqual([revision('b')]);
  });

  it('are dropped when they are old, and it is said whose they were', () => {
    let nowMs = 0;
    const untold = new UntoldDecisions(8_000, () => nowMs);
    untold.add(revision('a'), alone('1'));
    nowMs = 5_000;
    untold.add(revision('a'), alone('2'));
    untold.add(revision('b'), alone('3'));
    nowMs = 8_001;
    expect(untold.dropOld()).toEqual(['a']);
    expect(untold.of(revision('a')).map(({ token }) => token)).toEqual(['2']);
    expect(untold.dropOld()).toEqual([]);
  });

  it('are forgotten with their ReplicaSet', () => {
    const untold = new UntoldDecisions(8_000, () => 0);
    untold.add(revision('a'), alone('1'));
    untold.forget(revision('a'));
    expect(untold.of(revision('a'))).toEqual([]);
  });
});
