import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type Page, pages, root, withoutFences } from './pages.ts';

const all = pages();

/** As GitHub makes them. */
function anchorsOf({ text }: Page): Set<string> {
  const headings = withoutFences(text).matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

const anchors = new Map(all.map((page) => [page.path, anchorsOf(page)]));

/** Links that lead nowhere. Other sites are theirs to keep. */
function deadLinks({ path, text }: Page): string[] {
  const targets = [...withoutFences(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false;
    const [file = '', anchor] = target.split('#');
    const leadsTo = file === '' ? path : normalize(join(dirname(path), file));
    if (!existsSync(join(root, leadsTo))) return true;
    return anchor !== undefined && !anchors.get(leadsTo)?.has(anchor);
  });
}

describe('the documentation', () => {
  it('is found', () => {
    expect(all.map(({ path }) => path)).toEqual(expect.arrayContaining(['README.md', 'docs/concepts.md']));
  });

  it.each(all)('has no dead link in $path', (page) => {
    expect(deadLinks(page)).toEqual([]);
  });

  it('reaches every page of docs/ from the README', () => {
    const readme = all.find(({ path }) => path === 'README.md')?.text ?? '';
    const unlinked = all.filter(
      ({ path }) =>
        path.startsWith('docs/') && !readme.includes(`(${path})`) && !readme.includes(`(${path}#`),
    );
    expect(unlinked.map(({ path }) => path)).toEqual([]);
  });
});
