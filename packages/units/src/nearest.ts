/** Upper and lower case, dashes and underscores are what people mix up first. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

/** Edits (insert, delete, replace, swap of neighbours) that turn one text into the other. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replace = (last[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      let least = Math.min(replace, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      }
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[to.length] ?? 0;
}

/** No name that we know is as long; what is longer is no slip of the hand, and is not worth the comparison. */
const LONGEST_NAME = 100;

const isPart = (a: string, b: string): boolean => a.length >= 4 && (b.includes(a) || a.includes(b));

export interface NearestOptions {
  /**
   * Whether a part may stand for the whole (`schedule` for `disruption-schedule`). Not among names that share their
   * parts, as paths do: there each part is one of several.
   */
  readonly parts: boolean;
}

/** The known name that a mistyped one most likely meant; null when more than a third of the letters differ in each. */
export function nearest(
  given: string,
  known: Iterable<string>,
  { parts }: NearestOptions = { parts: true },
): string | null {
  if (given.length > LONGEST_NAME) return null;
  const wanted = plain(given);
  let found: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const candidate = plain(name);
    const edits = distance(wanted, candidate);
    const isNear =
      edits <= Math.max(2, Math.floor(Math.max(wanted.length, candidate.length) / 3)) ||
      (parts && isPart(wanted, candidate));
    if (isNear && edits < least) {
      least = edits;
      found = name;
    }
  }
  return found;
}
