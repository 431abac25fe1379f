import { readFileSync } from 'node:fs';

interface Panel {
  readonly type: string;
  readonly title: string;
  /** Of all but rows. */
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const file = new URL('../spotalis/files/dashboard.json', import.meta.url);

const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { readonly panels: readonly Panel[] };

/** What the panels ask, by the panel's title. */
export const questions: readonly { readonly title: string; readonly expr: string }[] = panels.flatMap(
  ({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })),
);

/** The titles of the rows, below which stand the panels of a module, or of the services themselves. */
export const rows: readonly string[] = panels.flatMap(({ type, title }) => (type === 'row' ? [title] : []));
