import { inLines, widthOf } from '@spotalis/units';

/** Breaks between words. Lines with colours are short ones: only plain text is ever too wide. */
export function wrap(line: string, columns: number): string[] {
  if (widthOf(line) <= columns) return [line];
  const [first = '', ...others] = inLines(line, columns, columns - 2);
  return [first, ...others.map((other) => `  ${other}`)];
}
