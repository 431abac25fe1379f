import { exampleObject } from './faults.ts';
import { needsSpec, type ResourceDefinition } from './definition.ts';
import type { Field, ObjectField } from './field.ts';
import type { ResourceProblemCode } from './problem.ts';
import { exampleOf, LARGEST_INT32 } from './wording.ts';

/** One way to write a spec and what must come of it. Drives the parser and a real API server alike. */
export interface ResourceCase {
  readonly name: string;
  readonly spec: unknown;
  /** The one problem, or null where the object is accepted. */
  readonly problem: { readonly code: ResourceProblemCode; readonly field: string } | null;
  /** False where only the parser can know it: the API server accepts the object. */
  readonly server: boolean;
}

export const accepted = (name: string, spec: unknown): ResourceCase => ({
  name,
  spec,
  problem: null,
  server: true,
});

export const refused = (
  name: string,
  spec: unknown,
  code: ResourceProblemCode,
  field: string,
): ResourceCase => ({ name, spec, problem: { code, field }, server: true });

/** A spec whose value at one place is another one; undefined takes the field away. */
type Put = (value: unknown) => unknown;

const wrongTypes: Readonly<Record<Field['type'], unknown>> = {
  text: 7,
  choice: 7,
  integer: 'many',
  number: 'many',
  flag: 'yes',
  time: 7,
  duration: 7,
  percentage: 7,
  quantity: true,
  countOrPercentage: true,
  list: {},
  map: [],
  object: 'none',
};

/** Valid by type, and out of bounds or of a wrong form. */
function wrongValues(field: Field): readonly (readonly [string, unknown])[] {
  switch (field.type) {
    case 'text': {
      const { minLength = 0, maxLength, form } = field;
      return [
        ...(minLength > 0 ? ([['empty', '']] as const) : []),
        ['too long', 'x'.repeat(maxLength + 1)],
        ...(form ? ([['of a wrong form', '?']] as const) : []),
      ];
    }
    case 'integer':
      return [
        ['below the minimum', field.min - 1],
        ['above the maximum', (field.max ?? LARGEST_INT32) + 1],
        ['a fraction', field.min + 0.5],
      ];
    case 'number':
      return [
        ...(field.min === undefined ? [] : ([['below the minimum', field.min - 0.5]] as const)),
        ...(field.above === undefined ? [] : ([['not above the minimum', field.above]] as const)),
        ...(field.max === undefined ? [] : ([['above the maximum', field.max + 0.5]] as const)),
      ];
    case 'time':
      return [
        ['a day alone', '2026-01-01'],
        ['a day that is none', '2026-02-30T00:00:00Z'],
      ];
    case 'duration':
      return ['', '5', '5 m', '1.5h', '-5m', '5d', '100000h', '1h1h1h1h1h', '5m\n'].map((text) => [
        JSON.stringify(text),
        text,
      ]);
    case 'quantity':
      return ['', '-1', '1e3', '1 Gi', 'Gi', '1KiB', '.5', '2E', '999999999999999999Ei', -1].map((text) => [
        JSON.stringify(text),
        text,
      ]);
    case 'percentage':
      return ['', '5', '101%', '-1%', '1.5%', '%'].map((text) => [JSON.stringify(text), text]);
    case 'countOrPercentage':
      return [field.min - 1, field.max + 1, 1.5, '', '5', '101%', '-1%'].map((value) => [
        JSON.stringify(value),
        value,
      ]);
    case 'list': {
      const { items, minItems = 0, maxItems } = field;
      const many = Array.from({ length: maxItems + 1 }, () => exampleOf(items));
      return [...(minItems > 0 ? ([['empty', []]] as const) : []), ['too long', many]];
    }
    case 'map': {
      const keys = Array.from({ length: field.maxEntries + 1 }, (_, index) => `key-${index}`);
      return [['too large', Object.fromEntries(keys.map((key) => [key, exampleOf(field.values)]))]];
    }
    case 'choice':
    case 'flag':
    case 'object':
      return [];
    default:
      return field satisfies never;
  }
}

function own(field: Field, path: string, put: Put): ResourceCase[] {
  const cases = [
    refused(`${path}: of a wrong type`, put(wrongTypes[field.type]), 'Invalid', path),
    ...wrongValues(field).map(([name, value]) => refused(`${path}: ${name}`, put(value), 'Invalid', path)),
  ];
  if (field.type === 'choice')
    cases.push(refused(`${path}: an unknown word`, put('Perhaps'), 'UnknownValue', path));
  if (field.type === 'list' && field.unique !== undefined) {
    const item = exampleOf(field.items);
    cases.push(refused(`${path}: an item twice`, put([item, item]), 'Duplicate', `${path}[1]`));
  }
  return cases;
}

function inObject(field: ObjectField, path: string, put: Put): ResourceCase[] {
  const whole = new Map(Object.entries(field.fields).map(([name, inner]) => [name, exampleOf(inner)]));
  const cases = Object.entries(field.fields).flatMap(([name, inner]) => {
    const at = `${path}.${name}`;
    const putInner: Put = (value) => put(Object.fromEntries(new Map(whole).set(name, value)));
    const rest = casesIn(inner, at, putInner);
    if (!inner.required) return rest;
    return [
      refused(`${at}: absent`, putInner(undefined), 'Missing', at),
      refused(`${at}: null`, putInner(null), 'Missing', at),
      ...rest,
    ];
  });
  const more = Object.fromEntries(new Map(whole).set('unheardOf', 1));
  return [...cases, refused(`${path}: an unknown field`, put(more), 'UnknownField', `${path}.unheardOf`)];
}

function casesIn(field: Field, path: string, put: Put): ResourceCase[] {
  const cases = own(field, path, put);
  if (field.type === 'list') cases.push(...casesIn(field.items, `${path}[0]`, (value) => put([value])));
  if (field.type === 'map') {
    const { exampleKey: key, values } = field;
    cases.push(...casesIn(values, `${path}.${key}`, (value) => put({ [key]: value })));
  }
  if (field.type === 'object') cases.push(...inObject(field, path, put));
  return cases;
}

/** With the required fields alone, and the first of those of which a rule needs one. */
function leastOf(field: Field): unknown {
  if (field.type !== 'object') return exampleOf(field);
  const demanded = new Set(
    (field.rules ?? []).flatMap((rule) => (rule.rule === 'anyOf' ? rule.paths.slice(0, 1) : [])),
  );
  return Object.fromEntries(
    Object.entries(field.fields).flatMap(([name, inner]) =>
      inner.required || demanded.has(name) ? [[name, leastOf(inner)]] : [],
    ),
  );
}

/** Absent and null alike take the defaults. */
function emptied(field: ObjectField): unknown {
  return Object.fromEntries(
    Object.entries(field.fields).flatMap(([name, inner]) => {
      if (inner.required) return [[name, leastOf(inner)]];
      return [[name, null]];
    }),
  );
}

/**
 * What follows from the definition alone: each field of a wrong type, out of its bounds, absent, unknown, twice. What
 * its rules and its users' habits add is written by hand beside it.
 */
export function casesOf(definition: ResourceDefinition): readonly ResourceCase[] {
  const { spec } = definition;
  const whole = exampleObject(definition)['spec'];
  const isOptional = !needsSpec(definition);
  return [
    accepted('every field set', whole),
    accepted('only what is required', leastOf(spec)),
    accepted('null for whatever may be absent', emptied(spec)),
    ...(isOptional ? [accepted('no spec', undefined)] : [refused('no spec', undefined, 'Missing', 'spec')]),
    ...casesIn(spec, 'spec', (value) => value),
  ];
}
