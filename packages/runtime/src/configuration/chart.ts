import { type Declared, isSetting, type Setting, type SettingGroup } from '@spotalis/units';
import { withOwn } from './configuration.ts';
import { settingsOf } from './keys.ts';

/** What a service picks up from a changed file while it runs, by full key. */
export function reloadableKeys<S extends SettingGroup>(declared: Declared<S>): readonly string[] {
  const { settings } = withOwn(declared);
  return [...settingsOf(settings)].flatMap(([key, { reloadable }]) => (reloadable ? [key] : []));
}

/** What holds where nobody says anything, in groups. What is unset by default is left out. */
export function configurationDefaults<S extends SettingGroup>(declared: Declared<S>): object {
  return defaultsOf(withOwn(declared).settings);
}

function defaultsOf(group: SettingGroup): object {
  const members = Object.entries(group).flatMap(([name, node]) => {
    const value = isSetting(node) ? node.default : defaultsOf(node);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(members);
}

/** Part of a JSON schema. */
interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** The schema as far as a chart can check it before anything runs: keys, and the plainest types. */
export function configurationJsonSchema<S extends SettingGroup>(declared: Declared<S>): JsonSchema {
  const { settings } = withOwn(declared);
  return mapOf(settings, '', olderNames(settings));
}

/** By older full key, the one that it is read as. */
const olderNames = (group: SettingGroup): ReadonlyMap<string, string> =>
  new Map(
    [...settingsOf(group)].flatMap(([key, { aliases = [] }]) =>
      aliases.map((alias) => [alias, key] as const),
    ),
  );

function mapOf(group: SettingGroup, prefix: string, older: ReadonlyMap<string, string>): JsonSchema {
  const properties = Object.entries(group).map(([name, node]) => [
    name,
    isSetting(node) ? valueOf(node) : mapOf(node, `${prefix}${name}.`, older),
  ]);
  const olderHere = [...older]
    .filter(([alias]) => alias.slice(0, alias.lastIndexOf('.') + 1) === prefix)
    .map(([alias, key]) => [alias.slice(prefix.length), { description: `An older name of ${key}.` }]);
  return {
    type: 'object',
    properties: Object.fromEntries([...properties, ...olderHere]),
    additionalProperties: false,
  };
}

function valueOf({ doc, default: fallback, reloadable }: Setting): JsonSchema {
  const description = reloadable ? `${doc} Picked up while running.` : doc;
  if (typeof fallback === 'boolean') return { type: 'boolean', description };
  if (typeof fallback === 'number') return { type: 'integer', description };
  return { description };
}
