/**
 * Whether an error is the system's, with that code: `hasCode(error, 'ENOENT')`. Not by `instanceof`: a test runner
 * gives tests an `Error` of their own, which the system's errors are none of.
 */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
