import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** The Node that the workspace pins, as a file: what the images hold. */
export function pinnedNode(): string {
  const file = join(repository, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
  if (!existsSync(file)) throw new Error(`${file} is missing: npm test and npm start install it`);
  return file;
}
