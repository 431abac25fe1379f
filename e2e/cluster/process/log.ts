import { readFileSync } from 'node:fs';

/** The last lines of a log, for an error message; a log that cannot be read is an empty one. */
export function logTail(file: string, lines = 12): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return `(no ${file})`;
  }
}
