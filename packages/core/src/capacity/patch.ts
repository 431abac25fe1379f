/** One operation of RFC 6902, of the kinds that are needed here. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** A key as one step of a JSON pointer (RFC 6901). */
function step(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Operations that give the entries of a map of strings these values; null removes one. Others stay as they are. */
export function patchEntries(
  path: string,
  existing: Readonly<Record<string, string>> | null | undefined,
  wanted: Readonly<Record<string, string | null>>,
): JsonPatchOperation[] {
  const entries = Object.entries(wanted);
  if (existing === null || existing === undefined) {
    const value = Object.fromEntries(entries.filter(([, text]) => text !== null));
    return Object.keys(value).length === 0 ? [] : [{ op: 'add', path, value }];
  }
  const operations: JsonPatchOperation[] = [];
  for (const [key, value] of entries) {
    const known = existing[key];
    if (known === (value ?? undefined)) continue;
    const at = `${path}/${step(key)}`;
    if (value === null) operations.push({ op: 'remove', path: at });
    else operations.push({ op: known === undefined ? 'add' : 'replace', path: at, value });
  }
  return operations;
}

/** Operations that put items at the end of a list. */
export function patchList(
  path: string,
  existing: readonly unknown[] | null | undefined,
  added: readonly unknown[],
): JsonPatchOperation[] {
  if (added.length === 0) return [];
  if (existing === null || existing === undefined) return [{ op: 'add', path, value: added }];
  return added.map((value) => ({ op: 'add', path: `${path}/-`, value }));
}
