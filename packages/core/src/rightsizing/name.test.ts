import { describe, expect, it } from '@jest/globals';
import { recommendationName } from './name.ts';

describe('the name of a recommendation', () => {
  it('has kind and name, and a hash where that is too long', () => {
    expect(recommendationName({ kind: 'StatefulSet', name: 'db' })).toBe('statefulset-db');
    const long = (end: string) =>
      recommendationName({ kind: 'StatefulSet', name: `${'a'.repeat(252)}${end}` });
    expect(long('b')).toHaveLength(253);
    expect(long('b')).not.toBe(long('c'));
    const dotted = recommendationName({ kind: 'StatefulSet', name: `${'a.'.repeat(126)}b` });
    expect(dotted).toMatch(/^[a-z0-9]+(?:[-.][a-z0-9]+)*$/);
  });
});
