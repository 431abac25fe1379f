import { describe, expect, it } from '@jest/globals';
import { RecentDecisions } from './recent.ts';

const keptMs = 8_000;
const own = (token: string) => ({ token, type: 'spot' as const, rank: 0, substitute: false });
const revision = (n: number) => ({ workloadUid: 'w', replicaSetUid: `rs-${n}` });

describe('recent decisions', () => {
  it('are those that a ledger of another id cannot know, as long as their pods may not be there', () => {
    let now = 0;
    const recent = new RecentDecisions(keptMs, () => now);
    recent.add(revision(1), 'before', own('a'));
    now = 5_000;
    recent.add(revision(1), 'before', own('b'));
    expect(recent.unknownTo(revision(1), 'before')).toEqual([]);
    expect(recent.unknownTo(revision(1), 'after')).toEqual([own('a'), own('b')]);
    now = 9_001;
    expect(recent.unknownTo(revision(1), 'after')).toEqual([own('b')]);
  });

  it('are young again when they were told again', () => {
    let now = 0;
    const recent = new RecentDecisions(keptMs, () => now);
    recent.add(revision(1), 'id', own('a'));
    recent.add(revision(1), 'id', own('b'));
    now = 5_000;
    recent.add(revision(1), 'id', own('a'));
    now = 10_000;
    expect(recent.all()).toEqual([{ revision: revision(1), decisions: [own('a')] }]);
  });

  it('stay few while nobody looks at the store, of one ReplicaSet and of many', () => {
    let now = 0;
    const recent = new RecentDecisions(keptMs, () => now);
    for (let n = 0; n < 10_000; n++) {
      now += 100;
      recent.add(revision(0), 'id', own(`busy-${n}`));
      recent.add(revision(n), 'id', own(`rare-${n}`));
    }
    expect(recent.size).toBeLessThanOrEqual(2 * ((keptMs * 9) / 8 / 100 + 1));
  });
});
