import type { JsonPatchOperation } from '@spotalis/core';

/** A JSON pointer (RFC 6901). */
export function pointerTo(...keys: readonly string[]): string {
  return keys.map((key) => `/${escaped(key)}`).join('');
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Whether the field is this one or below it. */
export function isWithin(pointer: string, field: string): boolean {
  return pointer.startsWith(field) && (pointer.length === field.length || pointer[field.length] === '/');
}

/** The fields that an operation writes. One that brings in a map writes its entries: others may add some, too. */
export function fieldsOf(operation: JsonPatchOperation): readonly string[] {
  return operation.op === 'add' && isMap(operation.value)
    ? Object.keys(operation.value).map((key) => `${operation.path}/${escaped(key)}`)
    : [operation.path];
}

/** One patch of what several steps want, none of which writes where another does. */
export function joinPatches(
  patches: readonly (readonly JsonPatchOperation[])[],
): readonly JsonPatchOperation[] {
  const [only] = patches;
  if (patches.length === 1 && only !== undefined) return only;
  const containers = new Set<string>();
  return patches.flat().flatMap((operation) => {
    if (operation.op !== 'add') return [operation];
    const { path, value } = operation;
    if (!isMap(value) && !Array.isArray(value)) return [operation];
    // Each step saw a pod without this map or list. A second one would replace the first.
    if (containers.has(path)) return contentsOf(path, value);
    containers.add(path);
    return [operation];
  });
}

function contentsOf(path: string, value: object): readonly JsonPatchOperation[] {
  return Array.isArray(value)
    ? value.map((item: unknown) => ({ op: 'add', path: `${path}/-`, value: item }))
    : Object.entries(value).map(([key, item]) => ({
        op: 'add',
        path: `${path}/${escaped(key)}`,
        value: item,
      }));
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
