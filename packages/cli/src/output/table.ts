import { stripVTControlCharacters } from 'node:util';

const widthOf = (text: string): number => stripVTControlCharacters(text).length;

/** The text, cut where the line ends; one that carries colours is left alone. */
function cut(text: string, width: number): string {
  if (widthOf(text) <= width || text.length !== widthOf(text)) return text;
  return width < 2 ? '' : `${text.slice(0, width - 1)}…`;
}

/**
 * Columns as wide as their widest cell. On a terminal (`width`) the last column is cut at its edge; in a pipe nothing
 * is, so that a line says the same wherever it is read.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { width, faint }: { readonly width: number | undefined; readonly faint: (text: string) => string },
): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((cells) => widthOf(cells[column] ?? ''))),
  );
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0);
  const line = (cells: readonly string[]): string =>
    cells
      .map((text, column) => {
        const isLast = column === header.length - 1;
        if (isLast) return width === undefined ? text : cut(text, Math.max(12, width - before));
        return text + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(text)));
      })
      .join('  ')
      .trimEnd();
  return [faint(line(header)), ...rows.map(line)].join('\n');
}

/** Lines of at most so many letters, each after the first begun with the indent. */
export function wrapped(text: string, width: number | undefined, indent: string): string {
  if (width === undefined) return text;
  const room = Math.max(30, width - indent.length);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${indent}`);
}
