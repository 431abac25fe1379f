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

/**
 * The candidate that was probably meant; undefined when none is close enough to be a slip of the hand. Core's own for
 * annotations goes further and takes a part for the whole: of paths and of SPOTALIS_ names each is a part of several.
 */
export function nearest(given: string, candidates: Iterable<string>): string | undefined {
  const wanted = given.toLowerCase();
  let best: { readonly name: string; readonly edits: number } | undefined;
  for (const name of candidates) {
    const edits = distance(wanted, name.toLowerCase());
    if (best === undefined || edits < best.edits) best = { name, edits };
  }
  return best !== undefined && best.edits <= Math.max(2, given.length / 3) ? best.name : undefined;
}
