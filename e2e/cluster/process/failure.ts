/*
 * Not by `instanceof Error`: in a test runner that has a global scope of its own per file, the errors of Node
 * itself are of another class.
 */

/** Whether an error is the system's, with that code: `hasCode(error, 'ENOENT')`. */
export function hasCode(error: unknown, code: string): boolean {
  return isObject(error) && 'code' in error && error.code === code;
}

/** What to tell of an error in one line. */
export function reasonOf(error: unknown): string {
  return isObject(error) && 'message' in error && typeof error.message === 'string'
    ? error.message
    : String(error);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
