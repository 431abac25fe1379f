import { pages } from './pages.ts';

export interface Command {
  readonly page: string;
  /** As it is written, comments left out. */
  readonly line: string;
}

/** What the pages tell people to type: the blocks that are marked `sh`, continued lines joined. */
export const commands: readonly Command[] = pages()
  .filter(({ path }) => !path.startsWith('packages/') && !path.startsWith('e2e/'))
  .flatMap(({ path, text }) =>
    [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
      block
        .replaceAll('\\\n', ' ')
        .split('\n')
        .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
        .filter((line) => line !== '')
        .map((line) => ({ page: path, line })),
    ),
  );
