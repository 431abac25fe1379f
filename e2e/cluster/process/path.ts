import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a program is, looking through PATH and then through `alsoIn`. */
export function findProgram(name: string, alsoIn: readonly string[] = []): string | undefined {
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), ...alsoIn];
  return directories
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, name))
    .find(isProgram);
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
