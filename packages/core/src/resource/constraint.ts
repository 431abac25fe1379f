import { type AmountType, celOrder, formOf, readAmount } from './amount.ts';
import { type Field, type Fields, isAlwaysSet, stepsTo } from './field.ts';
import type { Literal, OrderRule, Rule } from './rule.ts';

/** A piece of a message: words, or the value at a path. */
export type Part = string | { readonly path: string; readonly field: Field };

/** A rule of an object, ready for both who check it. */
export interface Constraint {
  /** True in CEL where the rule holds; `self` is the object, and all of its fields are valid by themselves. */
  readonly cel: string;
  readonly holds: (object: unknown) => boolean;
  /** What must be, in words. */
  readonly demand: string;
  /** What a message says of an object that breaks the rule; the example ends it. */
  readonly parts: readonly Part[];
  readonly example: string;
  /** The field at fault, or null where it is the object. */
  readonly path: string | null;
}

/** https://github.com/google/cel-spec: these words are no identifiers, and the API server escapes them. */
const celWords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const celName = (name: string): string => (celWords.has(name) ? `__${name}__` : name);

export const celText = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;

export const celPath = (path: string): string => `self.${path.split('.').map(celName).join('.')}`;

/** True in CEL where every step of the path that may be absent is there; '' where none may. */
function celHas(fields: Fields, path: string): string {
  const steps = stepsTo(fields, path);
  return steps
    .flatMap(({ field }, index) => {
      const upTo = steps.slice(0, index + 1).map(({ name }) => name);
      return isAlwaysSet(field) ? [] : [`has(${celPath(upTo.join('.'))})`];
    })
    .join(' && ');
}

/** `a && b ? expression : true`, in CEL. */
const celWhere = (guards: readonly string[], expression: string): string => {
  const guard = guards.filter(Boolean).join(' && ');
  return guard === '' ? expression : `!(${guard}) || ${expression}`;
};

function valueAt(object: unknown, path: string): unknown {
  let value: unknown = object;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

function leafOf(fields: Fields, path: string): Field {
  const last = stepsTo(fields, path).at(-1);
  if (last === undefined) throw new TypeError('a path needs a name');
  return last.field;
}

const isAmount = (field: Field) =>
  field.type === 'duration' || field.type === 'quantity' || field.type === 'percentage' ? field.type : null;

/**
 * The CEL value as a string. The API server estimates the cost of `string()` of a string, an integer or a number as
 * that of the longest text there is, and refuses it; of a dynamic value it does not.
 */
export function celString(field: Field, expression: string): string {
  if (!isQuoted(field)) return `string(dyn(${expression}))`;
  return field.type === 'quantity' || field.type === 'countOrPercentage'
    ? `string(${expression})`
    : expression;
}

function celOperand(field: Field, expression: string): string {
  const amount = isAmount(field);
  return amount === null ? expression : formOf(amount).cel(celString(field, expression));
}

export const celAmount = (type: AmountType, text: string): string =>
  type === 'percentage' ? text.slice(0, -1) : formOf(type).cel(celText(text));

function celLiteral(field: Field, literal: Literal): string {
  const amount = isAmount(field);
  if (amount !== null) return celAmount(amount, String(literal));
  if (field.type === 'number') return Number.isInteger(literal) ? `${literal}.0` : String(literal);
  return typeof literal === 'string' ? celText(literal) : String(literal);
}

function comparable(field: Field, value: unknown): Comparable | null {
  const amount = isAmount(field);
  if (amount !== null) return readAmount(amount, String(value));
  return typeof value === 'number' ? value : null;
}

const operatorWords = { '<': 'less than', '<=': 'at most', '>': 'more than', '>=': 'at least' } as const;

type Comparable = bigint | number;

const stands: Readonly<Record<OrderRule['operator'], (left: Comparable, right: Comparable) => boolean>> = {
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

/** Whether a message has its value in quotes. */
export const isQuoted = ({ type }: Field): boolean => !['integer', 'number', 'flag'].includes(type);

const partAt = (fields: Fields, path: string): Part => ({ path, field: leafOf(fields, path) });

function orderOf(fields: Fields, rule: OrderRule): Constraint {
  const { left, operator, right, example } = rule;
  const leftField = leafOf(fields, left);
  const rightField = 'path' in right ? leafOf(fields, right.path) : leftField;
  const amount = isAmount(leftField);
  const isNumber = leftField.type === 'integer' || leftField.type === 'number';
  if (leftField.type !== rightField.type || !(isNumber || amount !== null))
    throw new TypeError(`${left} has no order to ${JSON.stringify(right)}`);
  const leftCel = celOperand(leftField, celPath(left));
  const rightCel =
    'path' in right ? celOperand(rightField, celPath(right.path)) : celLiteral(leftField, right.literal);
  const order =
    amount === null ? `${leftCel} ${operator} ${rightCel}` : celOrder(amount, leftCel, operator, rightCel);
  const guards = [celHas(fields, left), 'path' in right ? celHas(fields, right.path) : ''];
  return {
    cel: celWhere(guards, order),
    holds: (object) => {
      const one = comparable(leftField, valueAt(object, left));
      const other = comparable(rightField, 'path' in right ? valueAt(object, right.path) : right.literal);
      return one === null || other === null || stands[operator](one, other);
    },
    demand: `${left} must be ${operatorWords[operator]} ${'path' in right ? right.path : right.literal}`,
    parts: [
      partAt(fields, left),
      ` is not ${operatorWords[operator]} `,
      ...('path' in right
        ? [`${right.path}, which is `, partAt(fields, right.path)]
        : [String(right.literal)]),
    ],
    example: `Example: ${JSON.stringify(example)}`,
    path: left,
  };
}

/** In parentheses where it has operators of its own. */
const group = (expression: string): string =>
  / && | \|\| /.test(expression) ? `(${expression})` : expression;

/** True in CEL where the path is there. */
function celIsSet(fields: Fields, path: string): string {
  const has = celHas(fields, path);
  if (has === '') throw new TypeError(`${path} is always set`);
  return group(has);
}

function anyOf(fields: Fields, { paths, example }: RuleOf<'anyOf'>): Constraint {
  const names = paths.join(', ');
  const isOne = paths.length === 1;
  return {
    cel: paths.map((path) => celIsSet(fields, path)).join(' || '),
    holds: (object) => paths.some((path) => valueAt(object, path) !== undefined),
    demand: isOne ? `${names} must be set` : `at least one of ${names} must be set`,
    parts: [isOne ? `${names} is not set` : `none of ${names} is set`],
    example: `Example: ${example}`,
    path: null,
  };
}

function together(fields: Fields, { paths, example }: RuleOf<'together'>): Constraint {
  const [one, other] = paths;
  return {
    cel: paths.map((path) => celIsSet(fields, path)).join(' == '),
    holds: (object) => (valueAt(object, one) === undefined) === (valueAt(object, other) === undefined),
    demand: `${one} and ${other} must both be set, or neither`,
    parts: [`only one of ${one} and ${other} is set`],
    example: `Example: ${example}`,
    path: null,
  };
}

const unset = (fields: Fields, { path }: RuleOf<'unset'>): Constraint => ({
  cel: `!${celIsSet(fields, path)}`,
  holds: (object) => valueAt(object, path) === undefined,
  demand: `${path} must not be set`,
  parts: [`${path} is set`],
  example: `Remove ${path}`,
  path: null,
});

function when(fields: Fields, { path, values, must }: RuleOf<'when'>): Constraint {
  const inner = constraintOf(fields, must);
  const field = leafOf(fields, path);
  const literals = values.map((value) => celLiteral(field, value));
  const isIn = values.length === 1 ? `== ${literals[0]}` : `in [${literals.join(', ')}]`;
  const condition = [celHas(fields, path), `${celPath(path)} ${isIn}`].filter(Boolean).join(' && ');
  const words = values.map((value) => JSON.stringify(value)).join(' or ');
  return {
    ...inner,
    cel: `!(${condition}) || ${group(inner.cel)}`,
    holds: (object) => !values.some((value) => value === valueAt(object, path)) || inner.holds(object),
    demand: `while ${path} is ${words}, ${inner.demand}`,
    parts: [...inner.parts, ` while ${path} is `, partAt(fields, path)],
  };
}

type RuleOf<R extends Rule['rule']> = Extract<Rule, { readonly rule: R }>;

/** Throws a TypeError where the rule cannot be about these fields: `faultsOf` finds that before anybody else. */
export function constraintOf(fields: Fields, rule: Rule): Constraint {
  switch (rule.rule) {
    case 'order':
      return orderOf(fields, rule);
    case 'anyOf':
      return anyOf(fields, rule);
    case 'together':
      return together(fields, rule);
    case 'unset':
      return unset(fields, rule);
    case 'when':
      return when(fields, rule);
    default:
      return rule satisfies never;
  }
}
