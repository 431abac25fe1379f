import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { generatedDocs } from './generate-docs.mjs';

describe('the generated documentation', () => {
  it.each(['docs/configuration.md', 'docs/metrics.md', 'docs/cli.md'])(
    '%s says what the code says: else run node scripts/generate-docs.mjs',
    async (path) => {
      const docs = await generatedDocs();
      expect(await readFile(new URL(`../${path}`, import.meta.url), 'utf8')).toBe(docs.get(path));
    },
  );
});
