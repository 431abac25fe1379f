import { stripVTControlCharacters } from 'node:util';

/** Breaks between words. Lines with colours are short ones: only plain text is ever too wide. */
export function wrap(line: string, columns: number): string[] {
  if (stripVTControlCharacters(line).length <= columns) return [line];
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > columns) {
      lines.push(current);
      current = `  ${word}`;
    } else {
      current = current === '' ? word : `${current} ${word}`;
    }
  }
  return [...lines, current];
}
