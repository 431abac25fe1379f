import type { JsonPatchOperation } from '../capacity/patch.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** RFC 6902 as far as it is used, and as strict: parents must exist, and so must what is replaced or removed. */
export function applyPatch<T>(document: T, operations: readonly JsonPatchOperation[]): T {
  const result = structuredClone(document);
  for (const operation of operations) {
    const steps = operation.path
      .split('/')
      .slice(1)
      .map((text) => text.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = steps.pop() ?? '';
    let parent: unknown = result;
    for (const step of steps) parent = isObject(parent) ? parent[step] : undefined;
    if (Array.isArray(parent)) {
      if (operation.op !== 'add' || last !== '-') throw new Error(`not modelled: ${operation.path}`);
      parent.push(operation.value);
      continue;
    }
    if (!isObject(parent)) throw new Error(`no parent: ${operation.path}`);
    if (operation.op !== 'add' && !(last in parent)) throw new Error(`nothing there: ${operation.path}`);
    if (operation.op === 'remove') delete parent[last];
    else parent[last] = structuredClone(operation.value);
  }
  return result;
}
