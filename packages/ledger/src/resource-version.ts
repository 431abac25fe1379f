/**
 * Orders two resourceVersions of one resource: below 0 when `a` is the older. They are decimal numbers that may
 * exceed 2^53 (and Lua's numbers with it), so they are compared as text: the longer is greater, then byte by byte.
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export function laterResourceVersion(a: string, b: string): string {
  return compareResourceVersions(a, b) >= 0 ? a : b;
}
