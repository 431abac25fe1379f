import type { Kind, Parsed } from './kinds.ts';

/** One key of the configuration: what it may hold and what it means. */
export interface Setting<T> {
  readonly doc: string;
  /** Completes "needs ...". */
  readonly allowed: string;
  /** As it would be written in the file; null when the key may stay unset. */
  readonly default: unknown;
  /** Picked up from a changed file while running; every other key waits for a restart. */
  readonly reloadable: boolean;
  /** Older full keys that are read as this one. */
  readonly aliases: readonly string[];
  parse(raw: unknown): Parsed<T>;
  fromText(written: string): unknown;
  print(value: T): unknown;
  /** Hides the secret within a text that was refused. */
  mask?(written: string): string;
}

export interface Schema {
  readonly [name: string]: Setting<unknown> | Schema;
}

/** The typed values a schema yields. */
export type ValuesOf<S> = S extends Setting<infer T> ? T : { readonly [Name in keyof S]: ValuesOf<S[Name]> };

interface About {
  readonly doc: string;
  readonly reloadable?: boolean;
  readonly aliases?: readonly string[];
}

const traits = (about: About) => ({
  doc: about.doc,
  reloadable: about.reloadable ?? false,
  aliases: about.aliases ?? [],
});

export function setting<T>(kind: Kind<T>, about: About & { readonly default: unknown }): Setting<T> {
  return { ...kind, ...traits(about), default: about.default };
}

/** A setting without a default: its value is undefined until someone sets it. */
export function optional<T>(kind: Kind<T>, about: About): Setting<T | undefined> {
  return {
    ...traits(about),
    allowed: kind.allowed,
    default: null,
    parse: (raw) => (raw === null ? { ok: true, value: undefined } : kind.parse(raw)),
    fromText: (value) => kind.fromText(value),
    print: (value) => (value === undefined ? null : kind.print(value)),
    ...(kind.mask && { mask: kind.mask }),
  };
}

export const isSetting = (node: Setting<unknown> | Schema): node is Setting<unknown> =>
  typeof node['parse'] === 'function';

/** Every setting by its full key, in the order of the schema. */
export function settingsOf(schema: Schema, prefix = ''): ReadonlyMap<string, Setting<unknown>> {
  const found = new Map<string, Setting<unknown>>();
  for (const [name, node] of Object.entries(schema)) {
    const key = `${prefix}${name}`;
    if (isSetting(node)) found.set(key, node);
    else for (const [inner, leaf] of settingsOf(node, `${key}.`)) found.set(inner, leaf);
  }
  return found;
}

/** controller.resyncPeriod -> SPOTALIS_CONTROLLER_RESYNC_PERIOD */
export function environmentName(key: string): string {
  const words = key.split('.').map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase());
  return `SPOTALIS_${words.join('_')}`;
}
