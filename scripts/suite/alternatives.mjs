import { existsSync, readFileSync } from 'node:fs';
import { ALTERNATIVES, isCached, isRare } from '../../e2e/cluster/index.ts';
import { titleOf } from './files.mjs';

/** When and where each file last passed with each alternative. */
export const compatibilityFile = 'e2e/compatibility.json';

/** The files once more for each version that they are also for, which takes the place of one of their parts. */
export function alternativesOf(files) {
  return files.flatMap((file) =>
    (file.also ?? []).map((alternative) => {
      const { part } = ALTERNATIVES[alternative] ?? {};
      if (!file.needs.includes(part))
        throw new TypeError(
          `${file.path}: '@also ${alternative}' takes the place of none of ${file.needs.join(', ')}`,
        );
      const needs = [...file.needs.filter((need) => need !== part), alternative];
      return { ...file, alternative, parts: file.needs, needs };
    }),
  );
}

export const readCompatibility = () =>
  existsSync(compatibilityFile) ? JSON.parse(readFileSync(compatibilityFile, 'utf8')) : {};

/** Whether a run has it that does not bring what only compatibility takes. */
export const isAtHand = ({ needs }) => needs.every((need) => !isRare(need) || isCached(need));

/** What a run did not play, and when and where it last passed. */
export function leftOut(files, passed = readCompatibility()) {
  return [
    'Left out, because it takes programs that are not in the cache; --nightly brings them:',
    ...files.map((file) => {
      const last = passed[titleOf(file)];
      return `  ${titleOf(file)}: ${last ? `last passed at ${last.commit} on ${last.date}` : 'has never passed'}`;
    }),
  ].join('\n');
}
