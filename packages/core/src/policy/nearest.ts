/** Upper and lower case, dashes and underscores are what people mix up first. */
function plain(key: string): string {
  return key.toLowerCase().replaceAll(/[-_]/g, '');
}

/** Single-letter insertions, deletions and replacements between two short words (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** A label or annotation name is at most 63 characters long; what is longer is no typo of ours. */
const LONGEST_NAME = 63;

/**
 * The known name that a mistyped one most likely meant, or null when none is near: at most a third of the letters
 * differ, or one contains the other (`schedule` for `disruption-schedule`).
 */
export function nearest(name: string, known: readonly string[]): string | null {
  if (name.length > LONGEST_NAME) return null;
  const wanted = plain(name);
  let found: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const plainCandidate = plain(candidate);
    const distance = editDistance(wanted, plainCandidate);
    const near =
      distance <= Math.max(2, Math.floor(Math.max(wanted.length, plainCandidate.length) / 3)) ||
      (wanted.length >= 4 && (plainCandidate.includes(wanted) || wanted.includes(plainCandidate)));
    if (near && distance < least) {
      least = distance;
      found = candidate;
    }
  }
  return found;
}
