import { describe, expect, it } from '@jest/globals';
import { toy } from '../testing/toy.ts';
import { defineResource, type ResourceDefinition } from './definition.ts';
import { faultsOf } from './faults.ts';
import { duration, type Fields, flag, integer, list, number, object, text } from './field.ts';
import { anyOf, ordered, type Rule, unset } from './rule.ts';

const description = 'A field.';

function faultsWith(fields: Fields, rules: readonly Rule[] = [], names: Partial<ResourceDefinition> = {}) {
  const spec = { type: 'object', description, fields, rules } as const;
  return faultsOf({ ...toy, columns: [], ...names, spec });
}

describe('a definition', () => {
  it('without faults is that of the toy', () => {
    expect(faultsOf(toy)).toEqual([]);
  });

  it.each<[string, readonly string[], string]>([
    [
      'a default that is out of bounds',
      faultsWith({ one: integer({ description, min: 1, max: 3, default: 4 }) }),
      'spec.one: the default is refused',
    ],
    [
      'a default that is never used',
      faultsWith({ one: flag({ description, required: true, default: true }) }),
      'spec.one: is required and has a default',
    ],
    [
      'an example that its form refuses',
      faultsWith({
        one: text({ description, maxLength: 9, form: { pattern: '^a$', expected: 'an a' }, example: 'b' }),
      }),
      'the example is refused: spec.one: "b" is not an a',
    ],
    [
      'a pattern that finds its match anywhere',
      faultsWith({
        one: text({ description, maxLength: 9, form: { pattern: 'a', expected: 'an a' }, example: 'a' }),
      }),
      'spec.one: has a pattern that is not anchored',
    ],
    ['no description', faultsWith({ one: flag({ description: ' ' }) }), 'spec.one: has no description'],
    ['a name in another case', faultsWith({ 'one-two': flag({ description }) }), 'is not in camelCase'],
    [
      'a key that may be absent',
      faultsWith({
        one: list({
          description,
          maxItems: 2,
          unique: ['name'],
          items: object({ description, fields: { name: text({ description, maxLength: 9, example: 'a' }) } }),
        }),
      }),
      'spec.one: the key name must be required or have a default',
    ],
    [
      'a set of objects',
      faultsWith({
        one: list({ description, maxItems: 2, unique: 'set', items: object({ description, fields: {} }) }),
      }),
      'spec.one: a set holds plain values',
    ],
    [
      'a rule about a field that is not there',
      faultsWith({ one: flag({ description }) }, [unset('two')]),
      'no field two',
    ],
    [
      'a rule that always holds',
      faultsWith({ one: flag({ description, default: true }) }, [anyOf(['one'], 'one: true')]),
      'one is always set',
    ],
    [
      'an order between different things',
      faultsWith(
        {
          one: duration({ description, example: '1m' }),
          two: integer({ description, min: 0 }),
        },
        [ordered('one', '<', 'two', '1m')],
      ),
      'one has no order to',
    ],
    ['a plural in upper case', faultsWith({}, [], { plural: 'Toys' }), 'Toys: names are in lower case'],
    ['a kind in lower case', faultsWith({}, [], { kind: 'toy' }), 'toy: a kind is written in PascalCase'],
  ])('has a fault that is named: %s', (_, faults, words) => {
    expect(faults).toContainEqual(expect.stringContaining(words));
  });

  it('does not compile with a typo in it', () => {
    const one = flag({ description });
    // @ts-expect-error -- no such option
    expect(integer({ description, min: 1, maximum: 2 })).toBeDefined();
    // @ts-expect-error -- a number has no such default
    expect(number({ description, default: 'one', example: 1 })).toBeDefined();
    // @ts-expect-error -- no unit
    expect(duration({ description, min: '5', example: '1m' })).toBeDefined();
    // @ts-expect-error -- the object has no such field
    expect(object({ description, fields: { one }, rules: [unset('two')] })).toBeDefined();
    const bare = { ...toy, spec: object({ description, fields: { one } }) };
    // @ts-expect-error -- the spec has no such field
    expect(defineResource({ ...bare, columns: [{ name: 'Two', path: 'spec.two' }] })).toBeDefined();
  });
});
