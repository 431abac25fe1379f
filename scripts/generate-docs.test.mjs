import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { generatedDocs } from './generate-docs.mjs';
import { strayFiles } from './resources.mjs';

const docs = await generatedDocs();

describe('what is generated', () => {
  it.each([...docs])('%s is up to date: else npm run docs', async (path, text) => {
    expect(await readFile(new URL(`../${path}`, import.meta.url), 'utf8')).toBe(text);
  });

  it('leaves no file of a resource that is gone: else delete it', async () => {
    expect(await strayFiles(new URL('..', import.meta.url), [...docs])).toEqual([]);
  });
});
