import { readFileSync, writeFileSync } from 'node:fs';
import { isRare } from '../../e2e/cluster/index.ts';
import { alternativesOf, compatibilityFile, readCompatibility } from './alternatives.mjs';
import { realFiles, titleOf } from './files.mjs';
import { results } from './record.mjs';

const secondsFile = 'scripts/suite/seconds.json';

/**
 * What is to be known of the last run in later ones: how long each file took, and which of the `rare` ones have passed, that
 * many runs leave out. Files that are gone are forgotten. A file that failed did not take the time that it takes.
 */
export function kept(record, { seconds, compatibility, titles, rare }) {
  const passed = record.files.filter(({ failed }) => failed === 0);
  const times = passed.map((file) => [titleOf(file), Math.max(1, Math.round(file.seconds))]);
  const now = { commit: record.commit.slice(0, 7), date: record.began.slice(0, 10) };
  // Of a changed tree nobody could say later what it was that passed.
  const proofs = record.changed
    ? []
    : passed
        .map(titleOf)
        .filter((title) => rare.includes(title))
        .map((title) => [title, now]);
  const merge = (old, entries) =>
    Object.fromEntries(
      Object.entries({ ...old, ...Object.fromEntries(entries) })
        .filter(([title]) => titles.includes(title))
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
  return { seconds: merge(seconds, times), compatibility: merge(compatibility, proofs) };
}

/** Writes it into the files that are checked in. */
export function keepLastRun() {
  const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
  const record = read(`${results}/record.json`);
  const files = realFiles();
  const all = [...files, ...alternativesOf(files)];
  const { seconds, compatibility } = kept(record, {
    seconds: read(secondsFile),
    compatibility: readCompatibility(),
    titles: all.map(titleOf),
    rare: all.filter(({ needs }) => needs.some(isRare)).map(titleOf),
  });
  for (const [path, content] of [
    [secondsFile, seconds],
    [compatibilityFile, compatibility],
  ])
    writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
  console.log(`kept of ${record.files.length} files what they took: ${secondsFile}, ${compatibilityFile}`);
  if (record.changed) console.log('nothing counts as compatible: the sources were changed since the commit');
}
