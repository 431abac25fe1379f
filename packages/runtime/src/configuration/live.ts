import { isDeepStrictEqual } from 'node:util';
import type { Declared, SettingGroup, ValuesOf } from '@spotalis/units';
import { FileWatch } from '../files/watch.ts';
import type { Component } from '../lifecycle/component.ts';
import { ConfigurationError } from './error.ts';
import { settingsOf } from './keys.ts';
import { checkRules, type Loaded, load, nest, type Sources } from './load.ts';

export interface ReloadListener<S> {
  /** New values are in force for these keys. */
  readonly changed: (values: ValuesOf<S>, keys: readonly string[]) => void;
  /** The changed file cannot be accepted; the old values stay in force. */
  readonly rejected: (error: ConfigurationError) => void;
  /** These keys differ from what is in force and wait for a restart. Told once for each new content. */
  readonly needsRestart: (keys: readonly string[]) => void;
}

export interface LiveOptions<S> {
  readonly declared: Declared<S>;
  readonly sources: Sources;
  readonly loaded: Loaded<S>;
  readonly listener: ReloadListener<S>;
  readonly pollMs?: number;
}

/** Follows the file while the service runs. `current` holds the values in force. */
export class LiveConfiguration<S extends SettingGroup> implements Component {
  readonly name = 'configuration';
  readonly #options: LiveOptions<S>;
  readonly #watch: FileWatch | undefined;
  #loaded: Loaded<S>;

  constructor(options: LiveOptions<S>) {
    this.#options = options;
    this.#loaded = options.loaded;
    const { file } = options.sources;
    if (file !== undefined) {
      this.#watch = new FileWatch({
        paths: [file],
        pollMs: options.pollMs ?? 5_000,
        changed: () => this.#reload(),
      });
    }
  }

  get current(): ValuesOf<S> {
    return this.#loaded.values;
  }

  async start(): Promise<void> {
    if (this.#watch === undefined) return;
    await this.#watch.start();
    // The file may have changed between the first load and now.
    await this.#reload();
  }

  async stop(): Promise<void> {
    await this.#watch?.stop();
  }

  async #reload(): Promise<void> {
    const { declared, sources, listener } = this.#options;
    try {
      const found = await load(declared, sources);
      const changed = differences(declared.settings, this.#loaded.flat, found.flat);
      if (changed.now.length > 0) {
        this.#loaded = merge(declared, this.#loaded, found, changed.now);
        listener.changed(this.#loaded.values, changed.now);
      }
      if (changed.later.length > 0) listener.needsRestart(changed.later);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      listener.rejected(error);
    }
  }
}

function differences(
  settings: SettingGroup,
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
) {
  const changed = [...settingsOf(settings)].filter(
    ([key]) => !isDeepStrictEqual(before.get(key), after.get(key)),
  );
  const keysWhere = (reloadable: boolean) =>
    changed.filter(([, setting]) => (setting.reloadable ?? false) === reloadable).map(([key]) => key);
  return { now: keysWhere(true), later: keysWhere(false) };
}

/** The old values with the given keys taken from the new ones. The rules between keys have to hold for the mixture. */
function merge<S extends SettingGroup>(
  declared: Declared<S>,
  before: Loaded<S>,
  after: Loaded<S>,
  keys: readonly string[],
): Loaded<S> {
  const flat = new Map(before.flat);
  const origins = new Map(before.origins);
  for (const key of keys) {
    const origin = after.origins.get(key);
    flat.set(key, after.flat.get(key));
    if (origin !== undefined) origins.set(key, origin);
  }
  const values = nest(declared, flat);
  checkRules(declared, values);
  return { values, flat, origins };
}
