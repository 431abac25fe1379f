import { inLines } from '@spotalis/units';

/** Lines of at most so many letters, each after the first begun with the indent; in a pipe (no `width`) one line. */
export function wrapped(text: string, width: number | undefined, indent: string): string {
  if (width === undefined) return text;
  return inLines(text, Math.max(30, width - indent.length)).join(`\n${indent}`);
}
