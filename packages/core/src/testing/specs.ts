import * as fc from 'fast-check';
import type { Field } from '../resource/field.ts';
import { exampleOf } from '../resource/wording.ts';
import type { ResourceDefinition } from '../resource/definition.ts';

const odd = fc.constantFrom<unknown>(null, '', 0, -1, 1.5, true, [], {}, '5', '1m', '1h', '100%', '2Gi', 'x');
const durations = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 100 }), fc.constantFrom('ms', 's', 'm', 'h')), {
    minLength: 1,
    maxLength: 2,
  })
  .map((parts) => parts.map(([amount, unit]) => `${amount}${unit}`).join(''));
const quantities = fc
  .tuple(
    fc.constantFrom('0', '1', '2', '999', '1000', '1024', '0.7', '1.000000001'),
    fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi'),
  )
  .map(([amount, suffix]) => `${amount}${suffix}`);

/** Values of a field, most of them near what is right. */
function valuesOf(field: Field): fc.Arbitrary<unknown> {
  switch (field.type) {
    case 'choice':
      return fc.constantFrom(...field.of);
    case 'integer':
      return fc.integer({ min: field.min - 1, max: Math.min(field.max ?? 10, field.min + 60) + 1 });
    case 'number':
      return fc.integer({ min: 0, max: 40 }).map((quarters) => quarters / 4);
    case 'flag':
      return fc.boolean();
    case 'duration':
      return durations;
    case 'quantity':
      return fc.oneof(quantities, fc.integer({ min: 0, max: 3 }));
    case 'percentage':
    case 'countOrPercentage':
      return fc.oneof(
        fc.integer({ min: 0, max: 101 }).map((share) => `${share}%`),
        fc.integer({ min: 0, max: 3 }),
      );
    case 'list':
      return fc.array(partsOf(field.items), { maxLength: 3 });
    case 'map':
      return fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), partsOf(field.values));
    case 'object':
      return fc.record(
        Object.fromEntries(Object.entries(field.fields).map(([name, inner]) => [name, partsOf(inner)])),
        { requiredKeys: Object.keys(field.fields).filter((name) => field.fields[name]?.required) },
      );
    case 'text':
    case 'time':
      return fc.constantFrom(exampleOf(field), 'x'.repeat(65));
    default:
      return field satisfies never;
  }
}

const partsOf = (field: Field): fc.Arbitrary<unknown> =>
  fc.oneof(
    { arbitrary: fc.constant(exampleOf(field)), weight: 60 },
    { arbitrary: valuesOf(field), weight: 6 },
    { arbitrary: odd, weight: 1 },
  );

/** Specs of a resource, of which a good part is valid. */
export const specsOf = ({ spec }: ResourceDefinition): fc.Arbitrary<unknown> => valuesOf(spec);
