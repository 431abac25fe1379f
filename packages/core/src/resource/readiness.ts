import type { Finding } from './condition.ts';
import type { Reading } from './parse.ts';

/** A condition's message holds a few problems; the rest shows when these are mended. */
const MOST_NAMED = 3;

/**
 * What the condition `Ready` says of an object that is not to be acted on. Null for a valid one: whether it is in force
 * is for its module to say.
 */
export function readiness({ kind, problems }: Pick<Reading<unknown>, 'kind' | 'problems'>): Finding | null {
  if (kind === 'valid') return null;
  const named = problems.slice(0, MOST_NAMED).map(({ message }) => message);
  const others = problems.length - named.length;
  const more = others === 0 ? [] : [`${others} more problem${others === 1 ? '' : 's'}`];
  const why =
    kind === 'newer'
      ? 'A newer version of Spotalis wrote this object, and it is left alone'
      : 'This object is invalid, and nothing is done by it';
  return {
    type: 'Ready',
    status: 'False',
    reason: kind === 'newer' ? 'NewerVersion' : 'Invalid',
    message: `${why}: ${[...named, ...more].join('; ')}`,
  };
}
