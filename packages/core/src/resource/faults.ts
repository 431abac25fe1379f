import { constraintOf } from './constraint.ts';
import { crdOf } from './crd.ts';
import { apiVersion, type ResourceDefinition } from './definition.ts';
import type { Field, Fields } from './field.ts';
import { readSpec, readStatus } from './parse.ts';
import { exampleOf } from './wording.ts';

/** An object of the definition with every field set. */
export function exampleObject(definition: ResourceDefinition): Readonly<Record<string, unknown>> {
  const { kind, scope, spec } = definition;
  return {
    apiVersion,
    kind,
    metadata: { name: 'example', ...(scope === 'Namespaced' && { namespace: 'default' }) },
    ...(Object.keys(spec.fields).length > 0 && { spec: exampleOf(spec) }),
  };
}

const child = (path: string, name: string): string => `${path}.${name}`;

/** The field and all fields in it, with their paths. */
function* fieldsIn(path: string, field: Field): Generator<readonly [string, Field]> {
  yield [path, field];
  if (field.type === 'list') yield* fieldsIn(`${path}[]`, field.items);
  if (field.type === 'map') yield* fieldsIn(`${path}.*`, field.values);
  if (field.type !== 'object') return;
  for (const [name, inner] of Object.entries(field.fields)) yield* fieldsIn(child(path, name), inner);
}

function keyFaults(path: string, field: Field): string[] {
  if (field.type !== 'list' || field.unique === undefined) return [];
  const { items, unique } = field;
  if (unique === 'set')
    return ['list', 'map', 'object'].includes(items.type) ? [`${path}: a set holds plain values`] : [];
  const fields: Fields = items.type === 'object' ? items.fields : {};
  return unique.flatMap((name) => {
    const key = fields[name];
    const isKey = key?.required === true || (key !== undefined && 'default' in key);
    return isKey ? [] : [`${path}: the key ${name} must be required or have a default`];
  });
}

function fieldFaults(path: string, field: Field): string[] {
  const faults = keyFaults(path, field);
  const refuse = (text: string) => faults.push(`${path}: ${text}`);
  if (field.description.trim() === '') refuse('has no description');
  if (field.required && 'default' in field && field.default !== undefined)
    refuse('is required and has a default: the default is never used');
  if (field.type === 'text' && field.form !== undefined && !/^\^.*\$$/.test(field.form.pattern))
    refuse('has a pattern that is not anchored');
  if (field.type === 'object') {
    for (const name of Object.keys(field.fields))
      if (!/^[a-z][A-Za-z0-9]*$/.test(name)) refuse(`${name} is not in camelCase`);
    for (const rule of field.rules ?? []) {
      try {
        constraintOf(field.fields, rule);
      } catch (error) {
        refuse(String(error));
      }
    }
  }
  return faults;
}

function nameFaults({ kind, plural, shortNames }: ResourceDefinition): string[] {
  const faults: string[] = [];
  if (!/^[A-Z][A-Za-z]*$/.test(kind)) faults.push(`${kind}: a kind is written in PascalCase`);
  for (const name of [plural, ...shortNames])
    if (!/^[a-z]+$/.test(name)) faults.push(`${name}: names are in lower case`);
  return faults;
}

/** Every value that the definition itself has must be valid: each default in its place, and all the examples. */
function valueFaults(definition: ResourceDefinition): string[] {
  const whole = exampleObject(definition);
  const statusObject = { ...whole, status: exampleOf(definition.status) };
  return [readSpec(definition, whole), readStatus(definition, statusObject)]
    .flatMap(({ problems }) => problems)
    .map(({ message }) => `the example is refused: ${message}`);
}

function defaultFaults(definition: ResourceDefinition, path: string, field: Field): string[] {
  if (!('default' in field) || field.default === undefined) return [];
  const alone = {
    ...definition,
    spec: { type: 'object', description: 'The default.', fields: { value: { ...field, required: true } } },
  } as const;
  const { problems } = readSpec(alone, { ...exampleObject(alone), spec: { value: field.default } });
  return problems.map(({ message }) => `${path}: the default is refused: ${message}`);
}

/** What is wrong with a definition itself, in words for its author. A definition without faults gives a valid CRD. */
export function faultsOf(definition: ResourceDefinition): readonly string[] {
  const { spec, status } = definition;
  const fields = [...fieldsIn('spec', spec), ...fieldsIn('status', status)];
  const own = [
    ...nameFaults(definition),
    ...fields.flatMap(([path, field]) => fieldFaults(path, field)),
    ...fields.flatMap(([path, field]) => defaultFaults(definition, path, field)),
  ];
  // The rest takes these for granted.
  if (own.length > 0) return own;
  crdOf(definition);
  return valueFaults(definition);
}
