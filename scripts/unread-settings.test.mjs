import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { settings } from '../packages/core/src/index.ts';
import { configurationReference } from '../packages/runtime/src/index.ts';
import { declaringFiles, followSettings } from './unread-settings.mjs';

const root = join(import.meta.dirname, '..');
const textOf = (path) => readFileSync(join(root, path), 'utf8');

const documented = [...configurationReference(settings, '').matchAll(/^### `(.+)`$/gm)].map(([, key]) => key);

/** Fresh words, words that code is full of, and every word that is a key or a group somewhere. */
const names = [
  ...'colour maxColours length map kind metadata values reason toString constructor'.split(' '),
  ...new Set(documented.flatMap((key) => key.split('.'))),
];

/** The text with keys of other names in the group that opens at the match; of every fourth name, beginning at `turn`. */
function inventIn(text, { index, 0: opening, 1: group, 2: indent }, turn) {
  const taken = new Set(
    documented.flatMap((key) => {
      const parts = key.split('.');
      return parts.filter((_, depth) => parts[depth - 1] === group);
    }),
  );
  const invented = names.filter((name, place) => place % 4 === turn % 4 && !taken.has(name));
  const lines = invented.map(
    (name) => `${indent}${name}: { format: 'flag', default: false, doc: 'Invented.' },\n`,
  );
  const at = index + opening.length;
  return {
    keys: invented.map((name) => `${group}.${name}`),
    text: text.slice(0, at) + lines.join('') + text.slice(at),
  };
}

/** The same for the same texts in whatever order. */
const counted = (texts) => {
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
};

describe('settings that nobody reads', () => {
  it('are none of those declared, each of which is followed', () => {
    const { declared, unread } = followSettings();
    expect(counted(declared)).toEqual(counted(documented));
    expect(unread).toEqual([]);
  });

  it('are found whatever they are called, in whatever group', () => {
    const sources = {};
    const expected = [];
    let turn = 0;
    for (const path of declaringFiles()) {
      let text = textOf(path);
      const groups = [...text.matchAll(/(\w+): \{\n(?=( +)\w+: \{)/g)];
      // From the end, so that the places of the others stay where they are.
      for (const found of groups.toReversed()) {
        const invented = inventIn(text, found, turn);
        turn += 1;
        text = invented.text;
        expected.push(...invented.keys);
      }
      sources[path] = text;
    }
    expect(turn).toBeGreaterThan(20);
    expect(expected.length).toBeGreaterThan(300);
    const { declared, unread } = followSettings(sources);
    expect(declared).toHaveLength(documented.length + expected.length);
    const ending = unread.map(({ key }) => key.split('.').slice(-2).join('.'));
    expect(counted(ending)).toEqual(counted(expected));
  });
});
