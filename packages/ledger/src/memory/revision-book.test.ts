import { describe, expect, it } from '@jest/globals';
import { newRevision, pod, request } from '../testing/subject.ts';
import { defaultTiming } from '../timing.ts';
import { BreakerBook } from './breaker-book.ts';
import { type DecideContext, RevisionBook } from './revision-book.ts';

const revision = newRevision();
const list = (resourceVersion: string) => ({ resourceVersion, pods: [pod('b', 'spot', 1)] });

function at(nowUs: number, more: Partial<DecideContext> = {}): DecideContext {
  return {
    nowUs,
    by: '1',
    dirty: false,
    breaker: new BreakerBook(),
    poolOpen: false,
    storeSinceUs: 0,
    ...more,
  };
}

const own = (token: string) => ({ token, type: 'on-demand' as const, rank: 4, substitute: false });

function bookOfTwo(nowUs: number): RevisionBook {
  const book = new RevisionBook(defaultTiming);
  book.merge(
    { resourceVersion: '20', pods: [pod('a', 'spot', 0), pod('b', 'spot', 1)] },
    book.mark(nowUs),
    nowUs,
  );
  return book;
}

describe('the places of a ReplicaSet', () => {
  it('need one list, not lists for ever, when the clock was set back after a release', () => {
    const book = bookOfTwo(1_000);
    book.released('a', 900_000_000);
    const decision = book.decide(request(revision, 't'), at(2_000));
    expect(decision).toMatchObject({ kind: 'need-list', reason: 'release-seen' });
    if (decision.kind === 'need-list') book.merge(list('30'), decision.mark, 2_010);
    expect(book.decide(request(revision, 't'), at(2_020)).kind).toBe('decided');
  });

  it('do not take a release for older than the last list when the clock was set back before it', () => {
    const book = bookOfTwo(900_000_000);
    book.released('a', 1_000);
    expect(book.decide(request(revision, 't'), at(1_010))).toMatchObject({ reason: 'release-seen' });
  });

  it('keep what was decided a moment ago when the clock was set back before it', () => {
    const book = bookOfTwo(900_000_000);
    const verified = { kind: 'verified', replicas: { replicas: 9, resourceVersion: '1' } } as const;
    book.decide(request(revision, 't', { knowledge: verified }), at(1_000));
    book.released('a', 1_010);
    book.merge(list('30'), book.mark(1_020), 1_030);
    expect(book.lookup('t')).toMatchObject({ state: 'pending' });
  });

  it('tell an end before a list from one since, when the clock was set back', () => {
    const book = bookOfTwo(900_000_000);
    book.released('a', 1_000);
    const mark = book.mark(1_010);
    book.released('b', 1_020);
    book.merge({ resourceVersion: '30', pods: [pod('a', 'spot', 0), pod('b', 'spot', 1)] }, mark, 1_030);
    expect(book.entries()).toMatchObject([{ token: 'a' }]);
    expect(book.decide(request(revision, 't'), at(1_040))).toMatchObject({ reason: 'release-seen' });
  });

  it('are listed by a process that lost its connection, whatever the ReplicaSet tells of its youth', () => {
    const birth = { createdAtMs: 10_000, untouched: true };
    const asked = request(revision, 't', { birth });
    const dirty = at(11_000_000, { dirty: true });
    expect(bookOfTwo(1_000).decide(asked, dirty)).toMatchObject({ kind: 'need-list', reason: 'dirty' });
    const empty = new RevisionBook(defaultTiming);
    expect(empty.decide(asked, dirty)).toMatchObject({ kind: 'need-list', reason: 'unseeded' });
    expect(empty.decide(asked, at(11_000_000)).kind).toBe('decided');
  });

  it('do not begin empty in a store that is hardly older than the ReplicaSet', () => {
    const asked = request(revision, 't', { birth: { createdAtMs: 10_000, untouched: true } });
    const book = new RevisionBook(defaultTiming);
    const young = at(11_000_000, { storeSinceUs: 8_000_000 });
    expect(book.decide(asked, young)).toMatchObject({ kind: 'need-list', reason: 'unseeded' });
    expect(book.decide(asked, at(11_000_000, { storeSinceUs: 7_999_999 })).kind).toBe('decided');
  });

  it('are told again of decisions that a lost ledger does not know, and of no other', () => {
    const book = bookOfTwo(1_000);
    book.released('a', 2_000);
    book.cancel('c', 2_000);
    book.announce(['a', 'b', 'c', 'd'].map(own), '1', 3_000);
    expect(book.counts()).toEqual({ spot: 1, onDemand: 1, untyped: 0, pending: 1 });
    expect(book.lookup('d')).toMatchObject({ state: 'pending', rank: 4 });
  });

  it('are not told by one process what another decided: a list has to say what the pod got', () => {
    const book = bookOfTwo(1_000);
    const asked = request(revision, 'd', { policy: { spotPercentage: 100, minOnDemand: 0 } });
    expect(book.decide(asked, at(2_000))).toMatchObject({ type: 'spot' });
    expect(book.announce([own('d')], '2', 3_000)).toBe(false);
    expect(book.lookup('d')).toMatchObject({ type: 'spot' });
    expect(book.announce([own('d')], '1', 3_000)).toBe(true);
    expect(book.lookup('d')).toMatchObject({ type: 'on-demand' });
  });
});
