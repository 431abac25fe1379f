import { describe } from './describe.ts';
import { LiveConfiguration, type ReloadListener } from './live.ts';
import { checkRules, type Loaded, load, type Rule, type Sources } from './load.ts';
import { type Configuration, definition } from './schema.ts';

type ServiceSchema = typeof definition.schema;

export type ConfigurationListener = ReloadListener<ServiceSchema>;
/** A law that one service knows and the schema does not. */
export type ConfigurationRule = Rule<ServiceSchema>;
export type FollowedConfiguration = LiveConfiguration<ServiceSchema>;

export interface FollowOptions {
  readonly rules?: readonly ConfigurationRule[];
  readonly pollMs?: number;
}

/** The configuration of a service as it was found at the start. */
export interface LoadedConfiguration {
  readonly values: Configuration;
  /** For --print-config. */
  describe(): string;
  /**
   * A component that follows the file from now on. Throws a ConfigurationError when what was found at the start
   * breaks one of the rules.
   */
  follow(listener: ConfigurationListener, options?: FollowOptions): FollowedConfiguration;
}

/** Rejects with a ConfigurationError that lists everything wrong at once. */
export async function loadConfiguration(sources: Sources): Promise<LoadedConfiguration> {
  const loaded: Loaded<ServiceSchema> = await load(definition, sources);
  return {
    values: loaded.values,
    describe: () => describe(definition.schema, loaded),
    follow(listener, { rules = [], ...timing } = {}) {
      const stricter = { ...definition, rules: [...definition.rules, ...rules] };
      checkRules(stricter, loaded.values);
      return new LiveConfiguration({ definition: stricter, sources, loaded, listener, ...timing });
    },
  };
}
