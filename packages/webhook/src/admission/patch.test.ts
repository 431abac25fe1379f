import { describe, expect, it } from '@jest/globals';
import { fieldsOf, isWithin, joinPatches, pointerTo } from './patch.ts';

describe('one patch of several', () => {
  it('keeps both maps where each step brings one in for a pod that has none', () => {
    const path = '/metadata/annotations';
    expect(
      joinPatches([
        [{ op: 'add', path, value: { 'a/b': '1' } }],
        [{ op: 'add', path, value: { 'c/d': '2', 'e~f': '3' } }],
      ]),
    ).toEqual([
      { op: 'add', path, value: { 'a/b': '1' } },
      { op: 'add', path: `${path}/c~1d`, value: '2' },
      { op: 'add', path: `${path}/e~0f`, value: '3' },
    ]);
  });

  it('keeps both lists', () => {
    const path = '/spec/tolerations';
    expect(
      joinPatches([[{ op: 'add', path, value: ['a'] }], [{ op: 'add', path, value: ['b', 'c'] }]]),
    ).toEqual([
      { op: 'add', path, value: ['a'] },
      { op: 'add', path: `${path}/-`, value: 'b' },
      { op: 'add', path: `${path}/-`, value: 'c' },
    ]);
  });

  it('leaves alone what the steps do in maps that the pod has', () => {
    const one = [{ op: 'remove', path: '/metadata/annotations/a' }] as const;
    const other = [{ op: 'replace', path: '/metadata/annotations/b', value: '2' }] as const;
    expect(joinPatches([one, other])).toEqual([...one, ...other]);
  });
});

describe('a field', () => {
  it('is written by an operation on it, or by the map that brings it in', () => {
    expect(fieldsOf({ op: 'add', path: '/metadata/annotations', value: { 'a/b': '1', c: '2' } })).toEqual([
      '/metadata/annotations/a~1b',
      '/metadata/annotations/c',
    ]);
    expect(fieldsOf({ op: 'replace', path: '/spec/affinity', value: { nodeAffinity: {} } })).toEqual([
      '/spec/affinity',
    ]);
    expect(fieldsOf({ op: 'remove', path: '/a' })).toEqual(['/a']);
  });

  it('holds what is below it, not what begins alike', () => {
    expect(isWithin('/spec/affinity', '/spec/affinity')).toBe(true);
    expect(isWithin('/spec/affinity/nodeAffinity', '/spec/affinity')).toBe(true);
    expect(isWithin('/spec/affinities', '/spec/affinity')).toBe(false);
    expect(isWithin('/spec', '/spec/affinity')).toBe(false);
  });

  it('is written as RFC 6901 says', () => {
    expect(pointerTo('metadata', 'annotations', 'a~b/c')).toBe('/metadata/annotations/a~0b~1c');
  });
});
