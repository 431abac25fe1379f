import type { Milliseconds } from './duration.ts';

interface About<Format extends string, Written> {
  readonly format: Format;
  /** As the file would hold it. Null: unset, and undefined for the code, until someone sets it. */
  readonly default: Written | null;
  /** One or two sentences for people: docs/configuration.md and the chart's schema have them. */
  readonly doc: string;
  /** Picked up from a changed file while running; every other key waits for a restart. */
  readonly reloadable?: true;
  /** Older full keys that are read as this one. */
  readonly aliases?: readonly string[];
}

/** A Go duration. Code gets milliseconds. */
interface DurationSetting extends About<'duration', string> {
  readonly min?: string;
  readonly example: string;
}

interface IntegerSetting extends About<'integer', number> {
  readonly min: number;
  readonly max: number;
  readonly example: number;
}

/** Port 0 lets the system choose a free one; the log line "listening" names it. */
interface PortSetting extends About<'port', number> {
  readonly default: number;
}

interface ChoiceSetting extends About<'choice', string> {
  readonly options: readonly string[];
}

interface TextSetting extends About<'text', string> {
  readonly what?: string;
  readonly pattern?: RegExp;
  readonly example: string;
}

/** A URL of one of the schemes. Its password is masked wherever the value is shown. */
interface UrlSetting extends About<'url', string> {
  readonly schemes: readonly string[];
  readonly example: string;
}

/** Texts. A single text counts as a list of one; the environment separates them by commas. */
interface ListSetting extends About<'list', readonly string[]> {
  readonly what: string;
  readonly pattern?: RegExp;
  readonly example: string;
}

/** What a structure was read as, or what is wrong with it. */
export type StructureReading<T> = { readonly value: T } | { readonly problem: string };

/** A map or a list that a function of its owner reads. */
interface StructureSetting extends About<'structure', unknown> {
  readonly what: string;
  readonly example: string;
  readonly read: (written: unknown) => StructureReading<unknown>;
}

/** One key of the configuration, as data: what it may hold and what it means. */
export type Setting =
  | DurationSetting
  | IntegerSetting
  | PortSetting
  | About<'flag', boolean>
  | ChoiceSetting
  | TextSetting
  | UrlSetting
  | ListSetting
  | StructureSetting;

/** Settings by name, in groups. The names on the way down, joined by dots, are the full key. */
export interface SettingGroup {
  readonly [name: string]: Setting | SettingGroup;
}

interface HeldByFormat {
  readonly duration: Milliseconds;
  readonly integer: number;
  readonly port: number;
  readonly flag: boolean;
  readonly text: string;
  readonly url: string;
  readonly list: readonly string[];
}

type Held<S extends Setting> = S extends { readonly options: readonly (infer Option)[] }
  ? Option
  : S extends { readonly read: (written: unknown) => StructureReading<infer T> }
    ? T
    : S['format'] extends keyof HeldByFormat
      ? HeldByFormat[S['format']]
      : never;

/** The values that declared settings yield. */
export type ValuesOf<S> = S extends Setting
  ? S['default'] extends null
    ? Held<S> | undefined
    : Held<S>
  : { readonly [Name in keyof S]: ValuesOf<S[Name]> };

/** One fault of a configuration, in one line a person can act on. */
export interface ConfigurationProblem {
  /** The key, or the environment variable, or the file when it cannot be read as a whole. */
  readonly key: string;
  readonly message: string;
}

/** A rule between keys. It sees only values that are each allowed on their own. */
export type SettingRule<S> = (values: ValuesOf<S>) => readonly ConfigurationProblem[];

/** Settings with the rules between them, as their owner declares them. */
export interface Declared<S> {
  readonly settings: S;
  readonly rules: readonly SettingRule<S>[];
}

export const declare = <const S extends SettingGroup>(
  settings: S,
  rules: readonly SettingRule<NoInfer<S>>[] = [],
): Declared<S> => ({ settings, rules });

interface AnyDeclared {
  readonly settings: SettingGroup;
  readonly rules: readonly ((values: never) => readonly ConfigurationProblem[])[];
}

type AllSettings<D> = D extends readonly [{ readonly settings: infer First }, ...infer Others]
  ? First & AllSettings<Others>
  : unknown;

/** What several owners declare as one declaration, in this order. They may share groups, and no key. */
export function combine<const D extends readonly AnyDeclared[]>(...declared: D): Declared<AllSettings<D>> {
  const settings = declared.reduce((all, one) => merged(all, one.settings, ''), {});
  const rules = declared.flatMap((one) => one.rules);
  // Each rule reads the values of its own declaration, and the combined values have all of them.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { settings, rules } as unknown as Declared<AllSettings<D>>;
}

function merged(all: SettingGroup, more: SettingGroup, prefix: string): SettingGroup {
  const members = Object.entries(more).map(([name, node]) => {
    const known = all[name];
    if (known === undefined) return [name, node] as const;
    if (isSetting(known) || isSetting(node)) throw new Error(`${prefix}${name} is declared twice`);
    return [name, merged(known, node, `${prefix}${name}.`)] as const;
  });
  return { ...all, ...Object.fromEntries(members) };
}

export const isSetting = (node: Setting | SettingGroup): node is Setting => typeof node.format === 'string';
