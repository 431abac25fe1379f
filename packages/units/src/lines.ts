import { stripVTControlCharacters } from 'node:util';

/** How many columns of a terminal a text takes: colours take none. */
export const widthOf = (text: string): number => stripVTControlCharacters(text).length;

/** Breaks a text between words into lines of at most so many columns. A word that is longer has a line of its own. */
export function inLines(text: string, first: number, others: number = first): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const room = lines.length === 0 ? first : others;
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
