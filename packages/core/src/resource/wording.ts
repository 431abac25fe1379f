import type { Field } from './field.ts';

const span = (min: string | number | undefined, max: string | number | undefined): string => {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
};

const nouns = { duration: 'a duration', quantity: 'a quantity', percentage: 'a percentage' } as const;

export const LARGEST_INT32 = 2 ** 31 - 1;

/** Completes "is not ...". */
function expectedOf(field: Field): string {
  switch (field.type) {
    case 'text':
      return field.form?.expected ?? `a text of ${field.minLength ?? 0} to ${field.maxLength} characters`;
    case 'choice':
      return `one of ${field.of.map((each) => JSON.stringify(each)).join(', ')}`;
    case 'integer':
      return `an integer from ${field.min} to ${field.max ?? LARGEST_INT32}`;
    case 'number':
      return field.above === undefined
        ? `a number${span(field.min, field.max)}`
        : `a number above ${field.above}${field.max === undefined ? '' : ` and at most ${field.max}`}`;
    case 'flag':
      return 'true or false';
    case 'time':
      return 'a time as of RFC 3339';
    case 'duration':
    case 'quantity':
    case 'percentage':
      return `${nouns[field.type]}${span(field.min, field.max)}`;
    case 'countOrPercentage':
      return `a count from ${field.min} to ${field.max} or a percentage from ${leastPercentage(field)} to 100%`;
    case 'list':
      return `a list of ${field.minItems ?? 0} to ${field.maxItems} items`;
    case 'map':
      return `a map of at most ${field.maxEntries} entries`;
    case 'object':
      return 'an object';
    default:
      return field satisfies never;
  }
}

/** Of nothing there is no percentage: a count above 0 excludes 0% as well. */
export const leastPercentage = ({ min }: { readonly min: number }): string => (min > 0 ? '1%' : '0%');

/** A valid value with every field set: it is the example of messages and pages, and the base of the test cases. */
export function exampleOf(field: Field): unknown {
  switch (field.type) {
    case 'choice':
      return field.default ?? field.of[0];
    case 'integer':
      return field.example ?? field.default ?? field.min;
    case 'flag':
      return field.default ?? true;
    case 'time':
      return '2026-01-01T00:00:00Z';
    case 'list':
      return [exampleOf(field.items)];
    case 'map':
      return { [field.exampleKey]: exampleOf(field.values) };
    case 'object':
      return Object.fromEntries(
        Object.entries(field.fields).map(([name, inner]) => [name, exampleOf(inner)]),
      );
    case 'text':
    case 'number':
    case 'duration':
    case 'quantity':
    case 'percentage':
    case 'countOrPercentage':
      return field.example;
    default:
      return field satisfies never;
  }
}

const LONGEST_EXAMPLE = 120;

/** A valid value as YAML reads it, too. */
export function exampleTextOf(field: Field): string {
  const text = JSON.stringify(exampleOf(field));
  return text.length > LONGEST_EXAMPLE ? expectedOf(field) : text;
}

/** Completes a message after the value that is refused. */
export const refusalOf = (field: Field): string =>
  `is not ${expectedOf(field)}. Example: ${exampleTextOf(field)}`;
