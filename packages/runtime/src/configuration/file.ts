import { readFile } from 'node:fs/promises';
import { type ConfigurationProblem, isSetting, nearest, type SettingGroup } from '@spotalis/units';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { reasonOf } from '../files/reason.ts';
import { ConfigurationError } from './error.ts';
import { settingsOf } from './keys.ts';

export interface FileValues {
  /** Raw values by full key; a key left empty (null) counts as not written. */
  readonly values: ReadonlyMap<string, unknown>;
  readonly problems: readonly ConfigurationProblem[];
}

type Tree = Readonly<Record<string, unknown>>;

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export async function readConfigurationText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ConfigurationError([
      {
        key: file,
        message: `cannot be read (${reasonOf(error)}); give --config the path of a YAML file this process may read`,
      },
    ]);
  }
}

/** Reads the YAML text against the schema: each key is either known, an alias or a problem. */
export function readConfigurationFile(schema: SettingGroup, file: string, text: string): FileValues {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const { line, col } = lines.linePos(fault.pos[0]);
    return {
      values: new Map(),
      problems: [{ key: `${file}:${line}:${col}`, message: `not valid YAML: ${fault.message}` }],
    };
  }
  const read = valueOf(document);
  if ('fault' in read) return { values: new Map(), problems: [{ key: file, message: read.fault }] };
  const { tree } = read;
  if (tree === null || tree === undefined) return { values: new Map(), problems: [] };
  if (!isTree(tree)) {
    return {
      values: new Map(),
      problems: [{ key: file, message: 'needs a map of keys, for example logging: { level: info }' }],
    };
  }
  return sort(schema, tree);
}

/** Aliases are followed only here: one that names no anchor is a fault of the text like any other. */
function valueOf(document: Document): { readonly tree: unknown } | { readonly fault: string } {
  try {
    return { tree: document.toJS() };
  } catch (error) {
    const advice = 'put a text that begins with * in quotes';
    return { fault: `not valid YAML: ${reasonOf(error)}; ${advice}` };
  }
}

function sort(schema: SettingGroup, tree: Tree): FileValues {
  const settings = settingsOf(schema);
  const aliases = new Map(
    [...settings].flatMap(([key, { aliases: old = [] }]) => old.map((alias) => [alias, key] as const)),
  );
  const values = new Map<string, unknown>();
  const problems: ConfigurationProblem[] = [];

  const take = (key: string, writtenAs: string, value: unknown): void => {
    if (value === null) return;
    if (values.has(key)) {
      const others = [key, ...(settings.get(key)?.aliases ?? [])].filter((name) => name !== writtenAs);
      problems.push({
        key: writtenAs,
        message: `is the same setting as ${others.join(', ')}; write only ${key}`,
      });
    }
    values.set(key, value);
  };

  const visit = (group: SettingGroup, members: Tree, prefix: string): void => {
    for (const [name, value] of Object.entries(members)) {
      const written = `${prefix}${name}`;
      const node = Object.hasOwn(group, name) ? group[name] : undefined;
      const renamed = aliases.get(written);
      if (node === undefined && renamed !== undefined) take(renamed, written, value);
      else if (node === undefined)
        problems.push(unknownKey(written, [...settings.keys()], Object.keys(group)));
      else if (isSetting(node)) take(written, written, value);
      else if (isTree(value)) visit(node, value, `${written}.`);
      else if (value !== null) {
        const message = `${JSON.stringify(value)} is not allowed; needs a map with ${Object.keys(node).join(', ')}`;
        problems.push({ key: written, message });
      }
    }
  };
  visit(schema, tree, '');
  return { values, problems };
}

function unknownKey(
  written: string,
  keys: readonly string[],
  siblings: readonly string[],
): ConfigurationProblem {
  const groups = new Set(
    keys.flatMap((key) => key.split('.').map((_, depth, parts) => parts.slice(0, depth + 1).join('.'))),
  );
  const prefix = written.slice(0, written.lastIndexOf('.') + 1);
  const meant =
    nearest(written, groups, { parts: false }) ??
    keys.find((key) => key.endsWith(`.${written.slice(prefix.length)}`));
  const advice =
    meant === undefined
      ? `known here: ${siblings.map((name) => prefix + name).join(', ')}`
      : `did you mean ${meant}?`;
  return { key: written, message: `unknown key; ${advice}` };
}
