import { describe, expect, it } from '@jest/globals';
import { type ReasonTraits, reasonTraits } from './reason.ts';

const namesOf = (isMeant: (traits: ReasonTraits) => boolean): readonly string[] =>
  Object.entries(reasonTraits)
    .filter(([, traits]) => isMeant(traits))
    .map(([reason]) => reason);

describe('the table of reasons', () => {
  it('leaves no text blank: what nothing is to be done about says so', () => {
    expect(namesOf(({ means, remedy }) => means.trim() === '' || remedy?.trim() === '')).toEqual([]);
  });

  it('says what to do about everything that has an Event', () => {
    expect(namesOf(({ alerts, remedy }) => alerts !== null && remedy === null)).toEqual([]);
  });

  it('has no Event on what is as it should be or was asked for', () => {
    expect(namesOf(({ alerts, postpones, calm }) => alerts !== null && (postpones || calm) === true)).toEqual(
      [],
    );
  });

  it('names an Event of its own after the reason, and has it although nothing drifts', () => {
    const own = Object.entries(reasonTraits).flatMap(([reason, { alerts }]) =>
      alerts === null || alerts.event === 'MoveBlocked' ? [] : [{ reason, ...alerts }],
    );
    for (const { reason, event, always } of own)
      expect({ event, always }).toEqual({ event: reason, always: true });
    expect(own).toHaveLength(5);
  });
});
