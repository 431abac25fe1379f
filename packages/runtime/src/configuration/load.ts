import convict from 'convict';
import { maskPasswords } from '../logging/redact.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { ConfigurationError, type ConfigurationProblem } from './error.ts';
import { readConfigurationFile, readConfigurationText } from './file.ts';
import { isSetting, type Schema, type Setting, settingsOf, type ValuesOf } from './setting.ts';

export type Origin =
  | { readonly from: 'default' }
  | { readonly from: 'file'; readonly file: string }
  | { readonly from: 'environment'; readonly name: string };

/** A law between keys. It sees only values that are each allowed on their own. */
export type Rule<S extends Schema> = (values: ValuesOf<S>) => readonly ConfigurationProblem[];

export interface Definition<S extends Schema> {
  readonly schema: S;
  readonly rules: readonly Rule<S>[];
}

export interface Sources {
  /** Path of the YAML file; without one there are only defaults and the environment. */
  readonly file?: string | undefined;
  /** What the file says, for whoever has read it already. */
  readonly text?: string;
  readonly environment: Environment;
}

export interface Loaded<S extends Schema> {
  readonly values: ValuesOf<S>;
  /** The same values by full key. */
  readonly flat: ReadonlyMap<string, unknown>;
  readonly origins: ReadonlyMap<string, Origin>;
}

/** What convict stores is what was written; reading it into types is the kinds' business, so it converts nothing. */
convict.addFormat({ name: 'as-written', validate: () => undefined, coerce: (value: unknown) => value });

type Store = convict.Config<Record<string, unknown>>;

/** defaults < file < environment. Collects every problem before it gives up. */
export async function load<S extends Schema>(
  definition: Definition<S>,
  sources: Sources,
): Promise<Loaded<S>> {
  const { schema } = definition;
  const { file } = sources;
  const written =
    file === undefined
      ? { values: new Map<string, unknown>(), problems: [] }
      : readConfigurationFile(schema, file, sources.text ?? (await readConfigurationText(file)));
  const environment = readEnvironment(schema, sources.environment);
  const problems = [...written.problems, ...environment.problems];

  const store: Store = convict(definitionForConvict(schema), { args: [], env: {} });
  for (const [key, raw] of written.values) store.set(key, raw);
  const origins = new Map<string, Origin>();
  const flat = new Map<string, unknown>();
  for (const [key, setting] of settingsOf(schema)) {
    const variable = environment.values.get(key);
    if (variable !== undefined) store.set(key, setting.fromText(variable.text));
    const origin: Origin =
      variable !== undefined
        ? { from: 'environment', name: variable.name }
        : written.values.has(key) && file !== undefined
          ? { from: 'file', file }
          : { from: 'default' };
    origins.set(key, origin);
    const read = readOne(key, setting, store.get(key), origin);
    if ('problem' in read) problems.push(read.problem);
    else flat.set(key, read.value);
  }
  if (problems.length > 0) throw new ConfigurationError(problems);

  const values = nest(definition, flat);
  checkRules(definition, values);
  return { values, flat, origins };
}

export function checkRules<S extends Schema>(definition: Definition<S>, values: ValuesOf<S>): void {
  const problems = definition.rules.flatMap((rule) => rule(values));
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** Puts flat values back into the shape of the schema. */
export function nest<S extends Schema>(
  { schema }: Definition<S>,
  flat: ReadonlyMap<string, unknown>,
): ValuesOf<S> {
  const values = shape(schema, (key) => flat.get(key));
  // Each leaf came out of the parse of the setting at the same key, which a type over all keys cannot say.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return values as ValuesOf<S>;
}

type Shape<Leaf> = { [name: string]: Leaf | Shape<Leaf> };

function shape<Leaf>(
  schema: Schema,
  leaf: (key: string, setting: Setting<unknown>) => Leaf,
  prefix = '',
): Shape<Leaf> {
  const members = Object.entries(schema).map(([name, node]) => {
    const key = `${prefix}${name}`;
    return [name, isSetting(node) ? leaf(key, node) : shape(node, leaf, `${key}.`)] as const;
  });
  return Object.fromEntries(members);
}

const definitionForConvict = (schema: Schema): convict.Schema<Record<string, unknown>> =>
  shape(schema, (_, { default: value, doc }) => ({ default: value, doc, format: 'as-written' }));

function readOne(
  key: string,
  setting: Setting<unknown>,
  raw: unknown,
  origin: Origin,
): { readonly value: unknown } | { readonly problem: ConfigurationProblem } {
  const parsed = setting.parse(raw);
  if (parsed.ok) return { value: parsed.value };
  const told = typeof raw === 'string' && setting.mask !== undefined ? setting.mask(raw) : raw;
  const shown = maskPasswords(JSON.stringify(told) ?? 'nothing');
  const where = origin.from === 'environment' ? ` (from ${origin.name})` : '';
  return {
    problem: { key, message: `${shown} is not allowed${where}; needs ${parsed.allowed ?? setting.allowed}` },
  };
}
