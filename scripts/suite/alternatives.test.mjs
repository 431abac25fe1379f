import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ALTERNATIVES } from '../../e2e/cluster/index.ts';
import { alternativesOf, isAtHand, leftOut } from './alternatives.mjs';
import { titleOf } from './files.mjs';

const chart = { path: 'charts/chart.test.ts', needs: ['control-plane', 'helm'], also: ['helm-4'] };

describe('a file that is for other versions too', () => {
  it('is played once more, with one of them in the place of the part', () => {
    const others = alternativesOf([chart, { path: 'e2e/moves.test.ts', needs: ['redis'] }]);
    expect(others.map(titleOf)).toEqual(['charts/chart.test.ts with helm-4']);
    expect(others).toMatchObject([
      { alternative: 'helm-4', needs: ['control-plane', 'helm-4'], parts: ['control-plane', 'helm'] },
    ]);
  });

  it.each(['redis-8.0', 'helm-5'])('cannot be for %s', (name) => {
    expect(() => alternativesOf([{ ...chart, also: [name] }])).toThrow(`'@also ${name}' takes the place`);
  });

  it('is at hand once the program is in the cache, as every file is that takes the usual ones', () => {
    const [other] = alternativesOf([chart]);
    const before = process.env.SPOTALIS_CACHE_DIR;
    const cache = mkdtempSync(join(tmpdir(), 'cache-'));
    process.env.SPOTALIS_CACHE_DIR = cache;
    try {
      expect([chart, other].map(isAtHand)).toEqual([true, false]);
      const bin = join(cache, 'bin', `helm-${ALTERNATIVES['helm-4'].version}`);
      mkdirSync(bin, { recursive: true });
      writeFileSync(join(bin, 'helm'), '');
      chmodSync(join(bin, 'helm'), 0o755);
      expect(isAtHand(other)).toBe(true);
      expect(isAtHand({ needs: ['cert-manager'] })).toBe(false);
    } finally {
      if (before === undefined) delete process.env.SPOTALIS_CACHE_DIR;
      else process.env.SPOTALIS_CACHE_DIR = before;
      rmSync(cache, { recursive: true });
    }
  });

  it('is listed where it is left out, with when and where it last passed', () => {
    const [other] = alternativesOf([chart]);
    const passed = { [titleOf(other)]: { commit: '0123456', date: '2026-11-20' } };
    expect(leftOut([other], passed)).toMatch(/with helm-4: last passed at 0123456 on 2026-11-20$/);
    expect(leftOut([other], {})).toMatch(/with helm-4: has never passed$/);
  });
});
