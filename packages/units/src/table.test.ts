import { describe, expect, it } from '@jest/globals';
import { plain, styleFor } from './style.ts';
import { inColumns, table } from './table.ts';
import { inLines } from './lines.ts';

const { good, faint } = styleFor(true, {});

describe('columns', () => {
  it('are as wide as their widest cell, and colours take no room', () => {
    expect(inColumns([['web', good('yes'), 'x'], ['checkout', 'no', 'y'], ['q']])).toEqual([
      `web       ${good('yes')}  x`,
      'checkout  no   y',
      'q',
    ]);
  });

  it('of numbers are flush right', () => {
    expect(
      inColumns(
        [
          ['n', 'name'],
          ['100', 'web'],
        ],
        (column) => column === 0,
      ),
    ).toEqual(['  n  name', '100  web']);
  });

  it('without lines are none', () => {
    expect(inColumns([])).toEqual([]);
  });
});

describe('a table', () => {
  const rows = [['web', 'a long story about where its pods are']];

  it('is cut at the edge of the terminal, and nowhere else', () => {
    expect(table(['NAME', 'STATE'], rows, { width: 24, faint: plain.faint })).toBe(
      'NAME  STATE\nweb   a long story abou…',
    );
    expect(table(['NAME', 'STATE'], rows, { width: undefined, faint })).toBe(
      `${faint('NAME  STATE')}\nweb   a long story about where its pods are`,
    );
  });

  it('never cuts a cell in colour, nor below a dozen columns', () => {
    const coloured = [['web', good('on target, and has been for long')]];
    expect(table(['NAME', 'STATE'], coloured, { width: 24, faint })).toContain(coloured[0]![1]);
    expect(table(['NAME', 'STATE'], rows, { width: 4, faint: plain.faint })).toContain('a long stor…');
  });
});

describe('a text', () => {
  it('is broken between words', () => {
    expect(inLines('one two three four', 8)).toEqual(['one two', 'three', 'four']);
    expect(inLines('one two three four', 8, 10)).toEqual(['one two', 'three four']);
    expect(inLines('unbreakable', 4)).toEqual(['unbreakable']);
  });
});
