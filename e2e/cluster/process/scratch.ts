import { accessSync, constants, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new directory of our own, in memory where the system has a place for that (Linux: /dev/shm). */
export function scratchDir(purpose: string): string {
  return mkdtempSync(join(memoryDir() ?? tmpdir(), `spotalis-${purpose}-`));
}

function memoryDir(): string | undefined {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return undefined;
  }
}
