import { widthOf } from '@spotalis/units';
import { wrap } from './wrap.ts';

export interface Picture {
  readonly table: string;
  /** Oldest first. */
  readonly notes: readonly string[];
  readonly menu: string;
}

interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Draws each picture over the one before it. */
export class Screen {
  readonly #terminal: Pick<NodeJS.WriteStream, 'columns' | 'rows' | 'write'>;
  #before: readonly string[] = [];

  constructor(terminal: Pick<NodeJS.WriteStream, 'columns' | 'rows' | 'write'> = process.stdout) {
    this.#terminal = terminal;
  }

  draw(picture: Picture): void {
    // Neither is known of some pseudo-terminals.
    const size = { columns: this.#terminal.columns || 80, rows: this.#terminal.rows || 24 };
    const lines = fit(picture, size);
    if (lines.join('\n') === this.#before.join('\n')) return;
    const height = heightOf(this.#before, size);
    const back = height === 0 ? '' : `\u001b[${height}A\u001b[0J`;
    this.#terminal.write(`${back}${lines.map((line) => `${line}\n`).join('')}`);
    this.#before = lines;
  }
}

/** Lines of the terminal: long ones take several. */
function heightOf(lines: readonly string[], { columns }: Size): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
}

/**
 * As much as there is room for: what scrolled out of the top could not be drawn over. The oldest notes go first,
 * then the table's last rows. One line is left for the cursor.
 */
function fit({ table, notes, menu }: Picture, size: Size): readonly string[] {
  const wrapped = (text: string): string[] => text.split('\n').flatMap((line) => wrap(line, size.columns));
  const below = ['', ...wrapped(menu)];
  const rows = table.split('\n');
  const room = size.rows - 1 - heightOf(below, size);
  while (rows.length > 2 && heightOf(rows, size) > room) rows.pop();
  const told = notes.map(wrapped);
  while (told.length > 0 && heightOf([...rows, ...told.flat()], size) > room) told.shift();
  return [...rows, ...told.flat(), ...below];
}
