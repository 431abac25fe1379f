import { definition } from './schema.ts';
import { isSetting, type Schema, type Setting, settingsOf } from './setting.ts';

/** What a service picks up from a changed file while it runs, by full key. */
export function reloadableKeys(): readonly string[] {
  return [...settingsOf(definition.schema)].flatMap(([key, { reloadable }]) => (reloadable ? [key] : []));
}

/** Part of a JSON schema. */
interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** The schema as far as a chart can check it before anything runs: keys, and the plainest types. */
export const configurationJsonSchema = (): JsonSchema => mapOf(definition.schema, '');

function mapOf(schema: Schema, prefix: string): JsonSchema {
  const older = olderNames(prefix);
  const properties = Object.entries(schema).map(([name, node]) => [
    name,
    isSetting(node) ? valueOf(node) : mapOf(node, `${prefix}${name}.`),
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries([...properties, ...older]),
    additionalProperties: false,
  };
}

/** Names under which other keys may still be written, directly below the prefix. */
function olderNames(prefix: string): (readonly [string, JsonSchema])[] {
  return [...settingsOf(definition.schema)].flatMap(([key, { aliases }]) =>
    aliases
      .filter((alias) => alias.slice(0, alias.lastIndexOf('.') + 1) === prefix)
      .map((alias) => [alias.slice(prefix.length), { description: `An older name of ${key}.` }] as const),
  );
}

function valueOf({ doc, default: fallback, reloadable }: Setting<unknown>): JsonSchema {
  const description = reloadable ? `${doc} Picked up while running.` : doc;
  if (typeof fallback === 'boolean') return { type: 'boolean', description };
  if (typeof fallback === 'number') return { type: 'integer', description };
  return { description };
}
