import { describe } from './describe.ts';
import { LiveConfiguration, type ReloadListener } from './live.ts';
import { type Loaded, load, type Sources } from './load.ts';
import { type Configuration, definition } from './schema.ts';

type ServiceSchema = typeof definition.schema;

export type ConfigurationListener = ReloadListener<ServiceSchema>;
export type FollowedConfiguration = LiveConfiguration<ServiceSchema>;

/** The configuration of a service as it was found at the start. */
export interface LoadedConfiguration {
  readonly values: Configuration;
  /** For --print-config. */
  describe(): string;
  /** A component that follows the file from now on. */
  follow(listener: ConfigurationListener, pollMs?: number): FollowedConfiguration;
}

/** Rejects with a ConfigurationError that lists everything wrong at once. */
export async function loadConfiguration(sources: Sources): Promise<LoadedConfiguration> {
  const loaded: Loaded<ServiceSchema> = await load(definition, sources);
  return {
    values: loaded.values,
    describe: () => describe(definition.schema, loaded),
    follow: (listener, pollMs) =>
      new LiveConfiguration({
        definition,
        sources,
        loaded,
        listener,
        ...(pollMs === undefined ? {} : { pollMs }),
      }),
  };
}
