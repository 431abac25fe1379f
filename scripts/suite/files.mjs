import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { jest } from './jest.mjs';

/** What most files need; one that needs more, or less, says so. */
const usual = ['redis', 'control-plane'];

/**
 * What a file of tests on real parts says of itself in its first comment: `@needs helm redis` names its parts, `@also
 * helm-4` what it is played with once more in the place of one of them, `@starved` and a reason why it cannot pass with a
 * third of a CPU.
 */
export function requirementsOf(text) {
  const [comment = ''] = /^\/\*\*.*?\*\//s.exec(text) ?? [];
  const needs = /@needs ([\w -]+)/.exec(comment)?.[1].trim().split(/ +/);
  const also = /@also ([\w. -]+)/.exec(comment)?.[1].trim().split(/ +/);
  const starved = /@starved ([^@]*?)\s*(?:\*\/|@)/s.exec(comment)?.[1].replaceAll(/\s*\n \* */g, ' ');
  return {
    needs: needs?.filter((need) => need !== 'nothing') ?? usual,
    ...(also && { also }),
    ...(starved && { starved }),
  };
}

/** Every file of tests on real parts: its path, and what it says of itself. */
export function realFiles() {
  const list = execFileSync('node', [...jest, '--selectProjects', 'real', '--listTests'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return list
    .split('\n')
    .filter((line) => line.startsWith('/'))
    .map((path) => relative(process.cwd(), path))
    .toSorted()
    .map((path) => ({ path, ...requirementsOf(readFileSync(path, 'utf8')) }));
}

/** How runs and their records name it. */
export const titleOf = ({ path, title = path, alternative }) =>
  alternative === undefined ? title : `${title} with ${alternative}`;
