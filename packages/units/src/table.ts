import { widthOf } from './lines.ts';

type Line = readonly string[];

function widthsOf(lines: readonly Line[]): readonly number[] {
  const widths: number[] = [];
  for (const line of lines) {
    line.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    });
  }
  return widths;
}

/** Lines of columns that are as wide as their widest cell. A column of numbers may be flush right. */
export function inColumns(
  lines: readonly Line[],
  isFlushRight: (column: number) => boolean = () => false,
): readonly string[] {
  const widths = widthsOf(lines);
  const padded = (cell: string, column: number): string => {
    const padding = ' '.repeat((widths[column] ?? 0) - widthOf(cell));
    return isFlushRight(column) ? padding + cell : cell + padding;
  };
  return lines.map((line) => line.map(padded).join('  ').trimEnd());
}

/** The text, cut where the line ends; one that carries colours is left alone. */
function cut(text: string, width: number): string {
  if (widthOf(text) <= width || text.length !== widthOf(text)) return text;
  return width < 2 ? '' : `${text.slice(0, width - 1)}…`;
}

/**
 * Columns under a header. On a terminal (`width`) the last column is cut at its edge; in a pipe nothing is, so that a
 * line says the same wherever it is read.
 */
export function table(
  header: Line,
  rows: readonly Line[],
  { width, faint }: { readonly width: number | undefined; readonly faint: (text: string) => string },
): string {
  const before = widthsOf([header, ...rows])
    .slice(0, header.length - 1)
    .reduce((sum, each) => sum + each + 2, 0);
  const fitted = (cells: Line): Line =>
    width === undefined
      ? cells
      : cells.map((text, column) =>
          column === header.length - 1 ? cut(text, Math.max(12, width - before)) : text,
        );
  const [title = '', ...lines] = inColumns([header, ...rows].map(fitted));
  return [faint(title), ...lines].join('\n');
}
