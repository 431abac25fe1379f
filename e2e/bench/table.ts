import { inColumns } from '@spotalis/units';
import type { Cell, Table } from './bench.ts';
import { median } from './statistics.ts';

/** Three significant digits say all that a benchmark knows; whole numbers stay as they are. */
export function formatCell(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return '–';
  if (typeof cell === 'string') return cell;
  if (!Number.isFinite(cell)) return '–';
  if (Number.isInteger(cell)) return cell.toLocaleString('en-US');
  const decimals = Math.max(0, Math.min(4, 2 - Math.floor(Math.log10(Math.abs(cell)))));
  return cell.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** The median, and the least and the greatest where there are several. */
export function spread(values: readonly number[], format: (value: number) => string = formatCell): string {
  if (values.length === 0) return '–';
  const middle = format(median(values));
  if (values.length === 1) return middle;
  return `${middle} (${format(Math.min(...values))}–${format(Math.max(...values))})`;
}

function cellsOf({ columns, rows }: Table): string[][] {
  return rows.map((row) => columns.map(({ key }) => formatCell(row[key])));
}

/** A column of numbers is flush right. */
function isNumeric({ columns, rows }: Table, column: number): boolean {
  const key = columns[column]?.key ?? '';
  return rows.some((row) => typeof row[key] === 'number');
}

export function plainTable(table: Table): string {
  const titles = table.columns.map(({ title }) => title);
  return inColumns([titles, ...cellsOf(table)], (column) => isNumeric(table, column)).join('\n');
}

const markdownLine = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;

export function markdownTable(table: Table): string {
  const rule = table.columns.map((_, column) => (isNumeric(table, column) ? '--:' : '---'));
  return [
    markdownLine(table.columns.map(({ title }) => title)),
    `|${rule.join('|')}|`,
    ...cellsOf(table).map(markdownLine),
  ].join('\n');
}
