import { nearest } from '@spotalis/units';
import { type AmountType, LARGEST_QUANTITY, readAmount } from './amount.ts';
import { constraintOf, isQuoted, type Part } from './constraint.ts';
import {
  apiGroup,
  apiVersion,
  needsSpec,
  type ResourceDefinition,
  type SpecOf,
  type StatusOf,
} from './definition.ts';
import type { Field, FieldOf, ObjectField } from './field.ts';
import { isNewer, lengthOf, type ResourceProblem, type ResourceProblemCode, shownValue } from './problem.ts';
import { exampleTextOf, LARGEST_INT32, leastPercentage, refusalOf } from './wording.ts';

/**
 * What a custom resource says, with the defaults of this version. An invalid object has a fault that its owner must
 * correct. A newer one has a field or a word that this version does not know: whoever reads it leaves it alone.
 */
export type Reading<T> =
  | { readonly kind: 'valid'; readonly value: T; readonly problems: readonly [] }
  | {
      readonly kind: 'invalid' | 'newer';
      readonly value: null;
      readonly problems: readonly ResourceProblem[];
    };

/** An object of 1 MiB can have a hundred thousand faults. The first few are enough to act on. */
const MOST_PROBLEMS = 20;

/** Of a key in a path: names come from anybody. */
const LONGEST_NAME = 63;

class Findings {
  readonly problems: ResourceProblem[] = [];
  count = 0;
  isNewer = false;

  add(code: ResourceProblemCode, field: string, tail: () => string): void {
    this.count++;
    const isFirstNewer = !this.isNewer && isNewer(code);
    this.isNewer ||= isFirstNewer;
    // The one problem that decides the kind is always named.
    if (this.problems.length < MOST_PROBLEMS || isFirstNewer)
      this.problems.push({ code, field, message: `${field}: ${tail()}` });
  }

  refuse(field: Field, path: string, value: unknown): void {
    this.add('Invalid', path, () => `${shownValue(value)} ${refusalOf(field)}`);
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const own = (value: object, name: string): unknown =>
  Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

const regExps = new Map<string, RegExp>();

function matches(pattern: string, text: string): boolean {
  let regExp = regExps.get(pattern);
  if (regExp === undefined) regExps.set(pattern, (regExp = new RegExp(pattern, 'u')));
  return regExp.test(text);
}

function isText(field: FieldOf<'text'>, value: unknown): boolean {
  const { minLength = 0, maxLength, form, accepts } = field;
  // A code point has at most two units, so most of what is too long is not counted.
  if (typeof value !== 'string' || value.length > 2 * maxLength) return false;
  const length = lengthOf(value);
  if (length < minLength || length > maxLength) return false;
  return (form === undefined || matches(form.pattern, value)) && (accepts?.(value) ?? true);
}

function isInteger({ min, max = LARGEST_INT32 }: FieldOf<'integer'>, value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

function isNumber({ min, above, max }: FieldOf<'number'>, value: unknown): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  if (min !== undefined && value < min) return false;
  if (above !== undefined && value <= above) return false;
  return max === undefined || value <= max;
}

function isAmount(field: FieldOf<AmountType>, value: unknown): boolean {
  const isQuantity = field.type === 'quantity';
  const isInt = isQuantity && typeof value === 'number' && Number.isInteger(value);
  if (typeof value !== 'string' && !isInt) return false;
  const amount = readAmount(field.type, String(value));
  if (amount === null) return false;
  const bound = (limit: string | number | undefined) =>
    limit === undefined ? amount : (readAmount(field.type, String(limit)) ?? amount);
  const max = field.max ?? (isQuantity ? LARGEST_QUANTITY : undefined);
  return amount >= bound(field.min) && amount <= bound(max);
}

function isCountOrPercentage(field: FieldOf<'countOrPercentage'>, value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && value >= field.min && value <= field.max;
  if (typeof value !== 'string') return false;
  const percentage = readAmount('percentage', value);
  return percentage !== null && percentage >= (readAmount('percentage', leastPercentage(field)) ?? 0n);
}

const clock = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:z|[+-]\d{2}:\d{2})$/i;

/** As the API server checks the format `date-time`: it looks at the date closely and at the offset not at all. */
function isTime(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > 64) return false;
  const [, day = '', rest = ''] = /^(\d{4}-\d{2}-\d{2})[Tt](.*)$/.exec(value) ?? [];
  const parsed = Date.parse(`${day}T00:00:00Z`);
  return clock.test(rest) && !Number.isNaN(parsed) && new Date(parsed).toISOString().startsWith(day);
}

/** Whether a value without parts is valid. An unknown word of a choice is not asked here. */
function isScalar(field: Exclude<Field, FieldOf<'list' | 'map' | 'object'>>, value: unknown): boolean {
  switch (field.type) {
    case 'text':
      return isText(field, value);
    case 'choice':
      return typeof value === 'string';
    case 'integer':
      return isInteger(field, value);
    case 'number':
      return isNumber(field, value);
    case 'flag':
      return typeof value === 'boolean';
    case 'time':
      return isTime(value);
    case 'duration':
    case 'quantity':
    case 'percentage':
      return isAmount(field, value);
    case 'countOrPercentage':
      return isCountOrPercentage(field, value);
    default:
      return field satisfies never;
  }
}

function readScalar(
  field: Exclude<Field, FieldOf<'list' | 'map' | 'object'>>,
  value: unknown,
  path: string,
  found: Findings,
): unknown {
  if (!isScalar(field, value)) found.refuse(field, path, value);
  else if (field.type === 'choice' && typeof value === 'string' && !field.of.includes(value))
    found.add('UnknownValue', path, () => `${shownValue(value)} ${refusalOf(field)}`);
  return value;
}

function readList(field: FieldOf<'list'>, value: unknown, path: string, found: Findings): unknown {
  const { items, minItems = 0, maxItems, unique } = field;
  if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) {
    found.refuse(field, path, value);
    return undefined;
  }
  const seen = new Set<string>();
  return value.map((item: unknown, index) => {
    const at = `${path}[${index}]`;
    const before = found.count;
    const read = readField(items, item, at, found);
    if (unique === undefined || found.count > before) return read;
    const key = JSON.stringify(
      unique === 'set' ? read : unique.map((name) => (isRecord(read) ? own(read, name) : null)),
    );
    if (seen.has(key)) found.add('Duplicate', at, () => `${shownValue(item)} ${duplicateText(unique)}`);
    seen.add(key);
    return read;
  });
}

const duplicateText = (unique: 'set' | readonly string[]): string =>
  unique === 'set'
    ? 'is in the list twice. Remove one of the two'
    : `has the same ${unique.join(' and ')} as another item. Remove or rename one of the two`;

function readMap(field: FieldOf<'map'>, value: unknown, path: string, found: Findings): unknown {
  // The API server drops a null here, and refuses it in a list.
  const entries = isRecord(value) ? Object.entries(value).filter(([, inner]) => inner !== null) : null;
  if (entries === null || entries.length > field.maxEntries) {
    found.refuse(field, path, value);
    return undefined;
  }
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      key,
      readField(field.values, inner, `${path}.${key.slice(0, LONGEST_NAME)}`, found),
    ]),
  );
}

const partText = (object: unknown, part: Part): string => {
  if (typeof part === 'string') return part;
  let value = object;
  for (const name of part.path.split('.')) value = isRecord(value) ? own(value, name) : undefined;
  return isQuoted(part.field) ? shownValue(String(value)) : shownValue(value);
};

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function unknownField(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return `this version has no such field. ${meant === null ? `Known: ${known.join(', ')}` : `Did you mean ${meant}?`}`;
}

function checkNames(value: object, known: readonly string[], path: string, found: Findings): void {
  const names = new Set(known);
  for (const name of Object.keys(value)) {
    if (!names.has(name))
      found.add('UnknownField', join(path, name.slice(0, LONGEST_NAME)), () => unknownField(name, known));
  }
}

function readObject(field: ObjectField, value: unknown, path: string, found: Findings): unknown {
  if (!isRecord(value)) {
    found.refuse(field, path, value);
    return undefined;
  }
  const before = found.count;
  const entries: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(field.fields)) {
    // As for the API server, null is as good as nothing.
    const given = own(value, name) ?? ('default' in inner ? inner.default : undefined);
    const at = join(path, name);
    if (given !== undefined) entries.push([name, readField(inner, given, at, found)]);
    else if (inner.required)
      found.add('Missing', at, () => `required, and not set. Example: ${exampleTextOf(inner)}`);
  }
  checkNames(value, Object.keys(field.fields), path, found);
  const read = Object.fromEntries(entries);
  // A rule is about fields that are valid by themselves.
  if (found.count > before) return read;
  for (const rule of field.rules ?? []) {
    const { holds, path: at, parts, example } = constraintOf(field.fields, rule);
    if (holds(read)) continue;
    const where = at === null ? path : join(path, at);
    found.add('Conflict', where, () => `${parts.map((part) => partText(read, part)).join('')}. ${example}`);
  }
  return read;
}

function readField(field: Field, value: unknown, path: string, found: Findings): unknown {
  if (field.type === 'list') return readList(field, value, path, found);
  if (field.type === 'map') return readMap(field, value, path, found);
  if (field.type === 'object') return readObject(field, value, path, found);
  return readScalar(field, value, path, found);
}

/** Whether the object is of this definition at all; its parts are of no interest otherwise. */
function isOfKind({ kind }: ResourceDefinition, object: unknown, found: Findings): object is object {
  const version = isRecord(object) ? own(object, 'apiVersion') : undefined;
  const written = isRecord(object) ? own(object, 'kind') : undefined;
  const isOfGroup = typeof version === 'string' && version.startsWith(`${apiGroup}/`);
  if (!isOfGroup || written !== kind) {
    found.add('WrongKind', 'kind', () => `${shownValue(written)} is not ${kind} of ${apiVersion}`);
    return false;
  }
  if (version === apiVersion) return true;
  const tail = () => `${shownValue(version)} is not known to this version. Example: "${apiVersion}"`;
  found.add('UnknownVersion', 'apiVersion', tail);
  return false;
}

function readingOf<T>(value: unknown, found: Findings): Reading<T> {
  // What has no problem was read field by field, as the definition has it, from which T is inferred.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  if (found.count === 0) return { kind: 'valid', value: value as T, problems: [] };
  return { kind: found.isNewer ? 'newer' : 'invalid', value: null, problems: found.problems };
}

const rootNames = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

/**
 * The spec of an object as the API server would have stored it: the same defaults, the same faults. It is for objects
 * that got past the API server, because its CRD is of another version. It takes time linear in the size of the object,
 * and never throws.
 */
export function readSpec<D extends ResourceDefinition>(definition: D, object: unknown): Reading<SpecOf<D>> {
  const found = new Findings();
  let spec: unknown;
  if (isOfKind(definition, object, found)) {
    checkNames(object, rootNames, '', found);
    const given = own(object, 'spec') ?? (needsSpec(definition) ? undefined : {});
    if (given === undefined)
      found.add('Missing', 'spec', () => `required, and not set. Example: ${exampleTextOf(definition.spec)}`);
    else spec = readObject(definition.spec, given, 'spec', found);
  }
  return readingOf<SpecOf<D>>(spec, found);
}

/** The status in the same way; absent, it is an empty one. */
export function readStatus<D extends ResourceDefinition>(
  definition: D,
  object: unknown,
): Reading<Partial<StatusOf<D>>> {
  const found = new Findings();
  let status: unknown = {};
  const given = isOfKind(definition, object, found) ? own(object, 'status') : undefined;
  if (given !== undefined) status = readObject(definition.status, given, 'status', found);
  return readingOf<Partial<StatusOf<D>>>(status, found);
}
