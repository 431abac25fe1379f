import type { ConfigurationProblem, Declared, Setting, SettingGroup, ValuesOf } from '@spotalis/units';
import convict from 'convict';
import { maskPasswords } from '../logging/redact.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { ConfigurationError } from './error.ts';
import { readConfigurationFile, readConfigurationText } from './file.ts';
import { fromText, masked, read } from './formats.ts';
import { nested, settingsOf } from './keys.ts';

export type Origin =
  | { readonly from: 'default' }
  | { readonly from: 'file'; readonly file: string }
  | { readonly from: 'environment'; readonly name: string };

export interface Sources {
  /** Path of the YAML file; without one there are only defaults and the environment. */
  readonly file?: string | undefined;
  /** What the file says, for whoever has read it already. */
  readonly text?: string;
  readonly environment: Environment;
}

export interface Loaded<S> {
  readonly values: ValuesOf<S>;
  /** The same values by full key. */
  readonly flat: ReadonlyMap<string, unknown>;
  readonly origins: ReadonlyMap<string, Origin>;
}

/**
 * A value on its way through convict, which would take a map for a group of keys, and text in the file for text of the
 * environment. It leaves an array as it is.
 */
type Boxed = readonly [written: unknown];

interface Node {
  readonly format: Setting['format'];
  readonly default: Boxed;
  readonly doc: string;
  readonly env?: string;
  /** Called by convict's validation. Problems stay data here, where convict would make one text of all. */
  readonly take: (written: unknown) => void;
}

for (const [name, convert] of Object.entries(fromText)) {
  convict.addFormat({
    name,
    validate: ([written]: Boxed, { take }: Node) => take(written),
    coerce: (text: string): Boxed => [convert(text)],
  });
}

/** defaults < file < environment. Collects every problem before it gives up. */
export async function load<S extends SettingGroup>(
  declared: Declared<S>,
  sources: Sources,
): Promise<Loaded<S>> {
  const { file } = sources;
  const settings = settingsOf(declared.settings);
  const text = file === undefined ? '' : (sources.text ?? (await readConfigurationText(file)));
  const written = readConfigurationFile(declared.settings, file ?? '', text);
  const environment = readEnvironment(settings, sources.environment);
  const originOf = (key: string): Origin => {
    const name = environment.names.get(key);
    if (name !== undefined) return { from: 'environment', name };
    return file !== undefined && written.values.has(key) ? { from: 'file', file } : { from: 'default' };
  };

  const readings = new Map<string, Reading>();
  const nodeOf = (key: string, setting: Setting): Node => {
    const { format, default: fallback, doc } = setting;
    const env = environment.names.get(key);
    const take = (value: unknown): void => {
      readings.set(key, readOne(key, setting, value, originOf(key)));
    };
    return { format, default: [fallback], doc, ...(env !== undefined && { env }), take };
  };
  const store = convict<unknown>(nested(declared.settings, nodeOf), {
    args: [],
    env: { ...sources.environment },
  });
  for (const [key, value] of written.values) store.set(key, [value]);
  // Loading, even nothing, puts the environment over what was set.
  store.load({}).validate({ allowed: 'strict' });

  const flat = new Map<string, unknown>();
  const problems = [...written.problems, ...environment.problems];
  for (const key of settings.keys()) {
    const reading = readings.get(key);
    if (reading?.ok) flat.set(key, reading.value);
    else if (reading !== undefined) problems.push(reading.problem);
  }
  if (problems.length > 0) throw new ConfigurationError(problems);

  const values = nest(declared, flat);
  checkRules(declared, values);
  return { values, flat, origins: new Map([...settings.keys()].map((key) => [key, originOf(key)])) };
}

export function checkRules<S>({ rules }: Declared<S>, values: ValuesOf<S>): void {
  const problems = rules.flatMap((rule) => rule(values));
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** Puts flat values back into their groups. */
export function nest<S extends SettingGroup>(
  { settings }: Declared<S>,
  flat: ReadonlyMap<string, unknown>,
): ValuesOf<S> {
  const values: unknown = nested(settings, (key) => flat.get(key));
  // Each leaf was read by the setting at the same key, which a type over all keys cannot say.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return values as ValuesOf<S>;
}

type Reading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: ConfigurationProblem };

function readOne(key: string, setting: Setting, written: unknown, origin: Origin): Reading {
  const reading = read(setting, written);
  if (reading.ok) return reading;
  const shown = maskPasswords(JSON.stringify(masked(setting.format, written)) ?? 'nothing');
  const where = origin.from === 'environment' ? ` (from ${origin.name})` : '';
  return {
    ok: false,
    problem: { key, message: `${shown} is not allowed${where}; needs ${reading.needed}` },
  };
}
