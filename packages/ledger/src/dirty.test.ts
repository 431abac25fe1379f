import { describe, expect, it } from '@jest/globals';
import { DirtyMarks } from './dirty.ts';

describe('dirty marks', () => {
  it('ask for a list of every ledger after a loss, of each by itself', () => {
    const marks = new DirtyMarks();
    expect(marks.isDirty('a')).toBe(false);
    marks.all();
    expect(marks.isDirty('a')).toBe(true);
    marks.clean('a', marks.epoch);
    expect(marks.isDirty('a')).toBe(false);
    expect(marks.isDirty('b')).toBe(true);
  });

  it('are not removed by a list that began before the loss', () => {
    const marks = new DirtyMarks();
    marks.all();
    const began = marks.epoch;
    marks.all();
    marks.clean('a', began);
    expect(marks.isDirty('a')).toBe(true);
    marks.one('b');
    const beganB = marks.epoch;
    marks.one('b');
    marks.clean('b', beganB);
    expect(marks.isDirty('b')).toBe(true);
  });

  it('are set on the one ledger that was decided without', () => {
    const marks = new DirtyMarks();
    marks.one('a');
    expect([marks.isDirty('a'), marks.isDirty('b')]).toEqual([true, false]);
    expect(marks.isDirty('a', Number.MAX_SAFE_INTEGER)).toBe(true);
    marks.clean('a', marks.epoch);
    expect(marks.isDirty('a')).toBe(false);
  });

  it('spare what was made well after the loss, once its time is known', () => {
    const marks = new DirtyMarks();
    marks.all();
    expect(marks.isDirty('a', 1_000_000)).toBe(true);
    marks.allBefore(500_000, marks.epoch);
    marks.allBefore(900_000, marks.epoch);
    expect(marks.isDirty('a', 502_001)).toBe(false);
    expect(marks.isDirty('a', 502_000)).toBe(true);
    expect(marks.isDirty('a')).toBe(true);
    marks.all();
    expect(marks.isDirty('a', 502_001)).toBe(true);
  });

  it('take no time of a store that was read before the loss', () => {
    const marks = new DirtyMarks();
    const before = marks.epoch;
    marks.all();
    marks.allBefore(500_000, before);
    expect(marks.isDirty('a', 1_000_000)).toBe(true);
  });

  it('are of all ledgers when there are too many to name them', () => {
    const marks = new DirtyMarks();
    for (let index = 0; index < 20_000; index++) marks.one(`a${index}`);
    expect(marks.isDirty('b')).toBe(false);
    marks.one('a20000');
    expect(marks.isDirty('b')).toBe(true);
  });

  it('come back on the ledger that was listed longest ago when too many have been', () => {
    const marks = new DirtyMarks();
    marks.all();
    for (let index = 0; index <= 20_000; index++) marks.clean(`a${index}`, marks.epoch);
    expect([marks.isDirty('a0'), marks.isDirty('a1'), marks.isDirty('a20000')]).toEqual([true, false, false]);
  });

  it('are forgotten with their ledger', () => {
    const marks = new DirtyMarks();
    marks.one('a');
    marks.forget('a');
    expect(marks.isDirty('a')).toBe(false);
  });
});
