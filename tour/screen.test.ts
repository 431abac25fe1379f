import { describe, expect, it } from '@jest/globals';
import { type Picture, Screen } from './screen.ts';

/** What a terminal of that size shows, and whether anything has left it by the top. */
class Terminal {
  readonly columns: number;
  readonly rows: number;
  lines: string[] = [];
  scrolled = 0;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): boolean {
    // oxlint-disable-next-line no-control-regex -- what a terminal is told to do begins with one
    const [, up = '0', rest = text] = text.match(/^\u001b\[(\d+)A\u001b\[0J([^]*)$/) ?? [];
    this.lines.length = Math.max(0, this.lines.length - Number(up));
    for (const line of rest.split('\n').slice(0, -1)) {
      for (let at = 0; at === 0 || at < line.length; at += this.columns) {
        this.lines.push(line.slice(at, at + this.columns));
      }
    }
    // The cursor is on the line below.
    while (this.lines.length + 1 > this.rows) {
      this.lines.shift();
      this.scrolled += 1;
    }
    return true;
  }
}

const menu = ['Press a number:', ...[1, 2, 3, 4, 5, 6].map((n) => `  ${n}  scene`), '  q  quit'].join('\n');
const note = (n: number): string => `scene ${n}: ${'0 pods off target and so on '.repeat(4).trim()}`;
const picture = (more: Partial<Picture> = {}): Picture => ({
  table: ['WORKLOAD', 'shop/web', 'shop/search', 'shop/checkout', 'shop/queue'].join('\n'),
  notes: [],
  menu,
  ...more,
});

describe('the screen', () => {
  it('draws each picture over the one before it', () => {
    const terminal = new Terminal(80, 40);
    const screen = new Screen(terminal);
    screen.draw(picture({ notes: [note(1)] }));
    screen.draw(picture({ table: 'WORKLOAD\nshop/web', notes: [note(2)] }));
    expect(terminal.lines.slice(0, 3)).toEqual(['WORKLOAD', 'shop/web', expect.stringMatching(/^scene 2/)]);
  });

  it.each([
    [80, 24],
    [60, 24],
    [40, 20],
  ])('leaves out the oldest notes where %d columns and %d rows have no room for them', (columns, rows) => {
    const terminal = new Terminal(columns, rows);
    const screen = new Screen(terminal);
    for (let n = 1; n <= 6; n++) {
      screen.draw(picture({ notes: [1, 2, 3, 4, 5, 6].slice(0, n).map(note) }));
    }
    expect(terminal.scrolled).toBe(0);
    expect(terminal.lines[0]).toBe('WORKLOAD');
    expect(terminal.lines.at(-1)).toBe('  q  quit');
    expect(terminal.lines.some((line) => line.startsWith('scene 6'))).toBe(true);
    expect(terminal.lines.some((line) => line.startsWith('scene 1'))).toBe(false);
  });

  it('leaves out rows of the table where even they have no room', () => {
    const terminal = new Terminal(80, 13);
    new Screen(terminal).draw(picture({ notes: [note(1)] }));
    expect(terminal.scrolled).toBe(0);
    expect(terminal.lines.slice(0, 4)).toEqual(['WORKLOAD', 'shop/web', 'shop/search', '']);
  });

  it('breaks between words', () => {
    const terminal = new Terminal(60, 24);
    new Screen(terminal).draw(picture({ notes: [note(1)] }));
    const words = new Set(note(1).split(' '));
    const shown = terminal.lines.slice(5, terminal.lines.indexOf('Press a number:') - 1);
    expect(
      shown
        .join(' ')
        .split(/ +/)
        .every((word) => words.has(word)),
    ).toBe(true);
  });
});
