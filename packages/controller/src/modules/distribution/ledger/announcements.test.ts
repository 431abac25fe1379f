import { describe, expect, it } from '@jest/globals';
import type { LedgerPod, Revision } from '@spotalis/ledger';
import { Announcements, type Fact, placeOf } from './announcements.ts';

const revision: Revision = { workloadUid: 'w', replicaSetUid: 'rs' };
const seen = (token: string, change: Partial<LedgerPod> = {}, at: Revision = revision): Fact => ({
  kind: 'seen',
  revision: at,
  token,
  pod: { token, type: 'spot', rank: 0, resourceVersion: '1', ...change },
});
const released = (token: string): Fact => ({ kind: 'released', revision, token });

/** Delivers everything due for `places` and returns it. */
function deliver(announcements: Announcements, places: readonly string[]): Fact[] {
  return places.flatMap((place) => {
    const fact = announcements.due(place);
    if (fact === undefined) return [];
    announcements.told(place, fact);
    return [fact];
  });
}

describe('announcements', () => {
  it('tells once of a pod that is seen many times', () => {
    const announcements = new Announcements();
    const told = [
      ...deliver(announcements, announcements.observe('pod', seen('a'))),
      ...deliver(announcements, announcements.observe('pod', seen('a', { resourceVersion: '2' }))),
      ...deliver(announcements, announcements.observe('pod', seen('a', { resourceVersion: '3' }))),
    ];
    expect(told).toEqual([seen('a')]);
  });

  it('tells again when type or rank change', () => {
    const announcements = new Announcements();
    deliver(announcements, announcements.observe('pod', seen('a')));
    const type = seen('a', { type: 'on-demand' });
    const rank = seen('a', { type: 'on-demand', rank: 4 });
    expect(deliver(announcements, announcements.observe('pod', type))).toEqual([type]);
    expect(deliver(announcements, announcements.observe('pod', rank))).toEqual([rank]);
  });

  it('tells once of an end that shows as terminating, as terminal and as gone', () => {
    const announcements = new Announcements();
    deliver(announcements, announcements.observe('pod', seen('a')));
    expect(deliver(announcements, announcements.observe('pod', released('a')))).toEqual([released('a')]);
    expect(deliver(announcements, announcements.observe('pod', released('a')))).toEqual([]);
    expect(deliver(announcements, announcements.remove('pod'))).toEqual([]);
    expect(announcements.size).toBe(0);
  });

  it('does not bring back a pod whose sighting arrives after its end', () => {
    const announcements = new Announcements();
    deliver(announcements, announcements.observe('pod', released('a')));
    expect(deliver(announcements, announcements.observe('pod', seen('a')))).toEqual([]);
  });

  it('says only the end of a pod that ended before its sighting was delivered', () => {
    const announcements = new Announcements();
    const places = [...announcements.observe('pod', seen('a')), ...announcements.remove('pod')];
    expect(deliver(announcements, places)).toEqual([released('a')]);
    expect(announcements.size).toBe(0);
  });

  it('keeps what was not delivered', () => {
    const announcements = new Announcements();
    const [place = ''] = announcements.observe('pod', seen('a'));
    expect(announcements.due(place)).toEqual(seen('a'));
    expect([...announcements.undelivered()]).toEqual([place]);
    announcements.told(place, seen('a'));
    expect(announcements.due(place)).toBeUndefined();
    expect([...announcements.undelivered()]).toEqual([]);
  });

  it('knows which pods the ledger holds', () => {
    const announcements = new Announcements();
    const places = announcements.observe('pod', seen('a'));
    expect(announcements.heldPlace('pod')).toBeUndefined();
    deliver(announcements, places);
    expect(announcements.heldPlace('pod')).toBe(placeOf(seen('a')));
    announcements.observe('pod', released('a'));
    expect(announcements.heldPlace('pod')).toBeUndefined();
  });

  it('still tells the end when it came while the sighting was being delivered', () => {
    const announcements = new Announcements();
    const [place = ''] = announcements.observe('pod', seen('a'));
    const inFlight = announcements.due(place)!;
    announcements.remove('pod');
    announcements.told(place, inFlight);
    expect(announcements.due(place)).toEqual(released('a'));
  });

  it('frees the old place of a pod that another ReplicaSet adopted', () => {
    const announcements = new Announcements();
    deliver(announcements, announcements.observe('pod', seen('a')));
    const adopted = seen('a', {}, { workloadUid: 'w', replicaSetUid: 'other' });
    expect(deliver(announcements, announcements.observe('pod', adopted))).toEqual([released('a'), adopted]);
    expect(announcements.size).toBe(1);
  });

  it('says nothing more of a pod it was told to forget', () => {
    const announcements = new Announcements();
    const [place = ''] = announcements.observe('pod', seen('a'));
    announcements.forget('pod');
    expect(announcements.due(place)).toBeUndefined();
    expect(announcements.remove('pod')).toEqual([]);
    expect(placeOf(seen('a'))).toBe(place);
  });
});
