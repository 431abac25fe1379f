import { describe, expect, it } from '@jest/globals';
import type { JsonPatchOperation } from '@spotalis/core';
import * as fc from 'fast-check';
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

type Maps = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

/** As an API server does, for maps of texts below the root. */
function applied(maps: Maps, operations: readonly JsonPatchOperation[]): Maps {
  const result = structuredClone(maps) as Record<string, Record<string, string>>;
  for (const operation of operations) {
    const [, map = '', entry] = operation.path.split('/');
    if (entry === undefined) {
      if (operation.op === 'add') result[map] = operation.value as Record<string, string>;
      continue;
    }
    const existing = result[map];
    if (existing === undefined) throw new Error(`${operation.path} has no map`);
    if (operation.op !== 'remove') existing[entry] = operation.value as string;
    else if (entry in existing) delete existing[entry];
    else throw new Error(`${operation.path} does not exist`);
  }
  return result;
}

const text = fc.stringMatching(/^[a-z]{1,3}$/);
const entries = fc.dictionary(text, text, { maxKeys: 4 });

/** What a step writes for a pod that has, or has not, the map. */
const operationsFor = (
  maps: Maps,
  map: string,
  wanted: Readonly<Record<string, string>>,
): JsonPatchOperation[] =>
  maps[map] === undefined
    ? [{ op: 'add', path: `/${map}`, value: wanted }]
    : Object.entries(wanted).map(([key, value]) => ({ op: 'add', path: `/${map}/${key}`, value }));

it('gives each step what it wants, whatever the pod has', () => {
  fc.assert(
    fc.property(
      fc.record({
        annotations: fc.option(entries, { nil: undefined }),
        labels: fc.option(entries, { nil: undefined }),
      }),
      fc.array(fc.tuple(fc.constantFrom('annotations', 'labels'), entries), { maxLength: 4 }),
      (pod, wishes) => {
        // Keys of a step begin with its number, so no two steps write one field.
        const own = wishes.map(
          ([map, wanted], step) =>
            [
              map,
              Object.fromEntries(Object.entries(wanted).map(([key, value]) => [`${step}${key}`, value])),
            ] as const,
        );
        const after = applied(pod, joinPatches(own.map(([map, wanted]) => operationsFor(pod, map, wanted))));
        for (const map of ['annotations', 'labels'] as const) {
          const wanted = own.filter(([of]) => of === map);
          const expected = Object.assign({}, pod[map], ...wanted.map(([, of]) => of));
          expect(after[map]).toEqual(pod[map] === undefined && wanted.length === 0 ? undefined : expected);
        }
      },
    ),
  );
});
