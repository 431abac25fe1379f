import { describe, expect, it } from '@jest/globals';
import { plain } from '@spotalis/units';
import { isSettled, renderTable, type Row } from './table.ts';

const row = (more: Partial<Row> = {}): Row => ({
  workload: 'shop/web',
  asked: '70 % spot, 1 must not',
  replicas: 10,
  spot: { actual: 7, target: 7 },
  onDemand: { actual: 3, target: 3 },
  unsteered: 0,
  ready: 10,
  isInOrder: true,
  untouched: undefined,
  ...more,
});

const stateOf = (more: Partial<Row>): string | undefined =>
  renderTable([row(more)], plain)
    .split('\n')[1]
    ?.split(/ {2,}/)
    .at(-1);

describe('the table of the tour', () => {
  it.each([
    ['on target', {}],
    ['on target, 4 Ready', { ready: 4 }],
    ['8 of 10 created', { spot: { actual: 5, target: 7 } }],
    ['30 too many', { spot: { actual: 28, target: 7 }, onDemand: { actual: 12, target: 3 } }],
    ['off by 1', { spot: { actual: 8, target: 7 }, onDemand: { actual: 2, target: 3 } }],
    ['left alone: its namespace has no label', { untouched: 'its namespace has no label' }],
  ])('says %s', (state, more) => {
    expect(stateOf(more)).toBe(state);
  });

  it('calls a workload settled when a scale-down would be exact, too', () => {
    expect(isSettled(row())).toBe(true);
    expect(isSettled(row({ isInOrder: false }))).toBe(false);
    expect(stateOf({ isInOrder: false })).toBe('on target');
  });

  it('holds nothing against a workload that Spotalis leaves alone', () => {
    const alone = row({ untouched: 'it has no annotation', asked: 'nothing' });
    expect(renderTable([alone], plain).split('\n')[1]).toMatch(/nothing +10 +7 +3 +left alone/);
  });
});
