import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { keyOf } from './object.ts';
import { type Change, Store } from './store.ts';

const numRuns = Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000);

interface Thing {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly node: string;
  readonly tags: readonly string[];
}

const thing = (
  name: string,
  version: string,
  more: Partial<Omit<Thing, 'metadata'>> & { uid?: string } = {},
): Thing => ({
  metadata: { name, uid: more.uid ?? `uid-${name}`, resourceVersion: version },
  node: more.node ?? 'n1',
  tags: more.tags ?? [],
});

function store(onHandlerError?: (error: Error) => void): Store<Thing, 'node' | 'tag'> {
  return new Store<Thing, 'node' | 'tag'>({
    indexes: { node: (one) => [one.node], tag: (one) => one.tags },
    ...(onHandlerError === undefined ? {} : { onHandlerError }),
  });
}

describe('Store', () => {
  it('tells of what is added, updated and deleted, and is up to date when it tells', () => {
    const things = store();
    const seen: string[] = [];
    things.subscribe((change) =>
      seen.push(`${change.type} ${change.object.metadata.resourceVersion} ${things.size}`),
    );
    things.upsert(thing('a', '1'), true);
    things.upsert(thing('a', '2'), false);
    things.remove('a', thing('a', '3'));
    expect(seen).toEqual(['added 1 1', 'updated 2 1', 'deleted 3 0']);
  });

  it('says nothing when the version is the same', () => {
    const things = store();
    things.upsert(thing('a', '1'), true);
    const seen: Change<Thing>[] = [];
    things.subscribe((change) => seen.push(change));
    things.upsert(thing('a', '1'), true);
    expect(seen).toEqual([]);
  });

  it('delivers a deletion missed during a relist as a tombstone', () => {
    const things = store();
    things.upsert(thing('a', '1'), true);
    things.upsert(thing('b', '1'), true);
    const seen: Change<Thing>[] = [];
    things.subscribe((change) => seen.push(change));
    things.keepOnly(new Set(['b']));
    expect(seen).toEqual([{ type: 'deleted', object: thing('a', '1'), tombstone: true }]);
    expect([...things.values()].map(keyOf)).toEqual(['b']);
  });

  it('takes another UID under the same name for what it is: one object gone, another there', () => {
    const things = store();
    things.upsert(thing('a', '1', { uid: 'old' }), true);
    const seen: string[] = [];
    things.subscribe((change) => seen.push(`${change.type} ${change.object.metadata.uid}`));
    things.upsert(thing('a', '9', { uid: 'new' }), false);
    expect(seen).toEqual(['deleted old', 'added new']);
  });

  it('keeps running, and runs the other handlers, when one throws', () => {
    const errors: string[] = [];
    const things = store((error) => errors.push(error.message));
    const seen: string[] = [];
    things.subscribe(() => {
      throw new Error('mine');
    });
    things.subscribe((change) => seen.push(change.type));
    things.upsert(thing('a', '1'), true);
    expect(seen).toEqual(['added']);
    expect(errors).toEqual(['mine']);
  });

  it('stops telling a handler that has left', () => {
    const things = store();
    const seen: string[] = [];
    const leave = things.subscribe((change) => seen.push(change.type));
    leave();
    things.upsert(thing('a', '1'), true);
    expect(seen).toEqual([]);
  });

  it('finds by every index exactly what a search through all objects finds', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const step = fc.oneof(
      fc.record({
        do: fc.constant('upsert' as const),
        name,
        version: fc.nat(3).map(String),
        uid: fc.constantFrom('u1', 'u2'),
        node: fc.constantFrom('n1', 'n2'),
        tags: fc.uniqueArray(fc.constantFrom('x', 'y')),
      }),
      fc.record({ do: fc.constant('remove' as const), name }),
      fc.record({ do: fc.constant('keep' as const), names: fc.uniqueArray(name) }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const things = store();
        for (const one of steps) {
          if (one.do === 'upsert') {
            things.upsert(thing(one.name, one.version, one), false);
          } else if (one.do === 'remove') {
            things.remove(one.name);
          } else {
            things.keepOnly(new Set(one.names));
          }
        }
        const all = [...things.values()];
        for (const node of ['n1', 'n2']) {
          const expected = all.filter((one) => one.node === node).map(keyOf);
          expect(things.by('node', node).map(keyOf).toSorted()).toEqual(expected.toSorted());
          expect(things.countBy('node', node)).toBe(expected.length);
        }
        for (const tag of ['x', 'y']) {
          const expected = all.filter((one) => one.tags.includes(tag)).map(keyOf);
          expect(things.by('tag', tag).map(keyOf).toSorted()).toEqual(expected.toSorted());
        }
      }),
      { numRuns },
    );
  });
});
