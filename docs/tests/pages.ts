import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const skipped = new Set(['node_modules', 'dist', '.git', '.turbo', '.results']);

export interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** Every page of the repository that people read. */
export function pages(folder = ''): Page[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : pages(path);
    return entry.name.endsWith('.md') ? [{ path, text: readFileSync(join(root, path), 'utf8') }] : [];
  });
}

/** Prose: what stands between fences is no link and no heading. */
export function withoutFences(text: string): string {
  return text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '');
}

/** The rows of the first table whose header begins with these cells. */
export function tableRows(text: string, header: readonly string[]): string[][] {
  const lines = text.split('\n');
  const cells = (line: string): string[] =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
  const start = lines.findIndex((line) => header.every((title, column) => cells(line)[column] === title));
  if (start < 0) throw new Error(`no table begins with ${header.join(', ')}`);
  const rest = lines.slice(start + 2);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end < 0 ? undefined : end).map(cells);
}
