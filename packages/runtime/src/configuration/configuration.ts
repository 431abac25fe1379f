import { combine, type Declared, type SettingGroup, type ValuesOf } from '@spotalis/units';
import { healthSettings } from '../health/settings.ts';
import { loggingSettings } from '../logging/settings.ts';
import { describe } from './describe.ts';
import { LiveConfiguration, type ReloadListener } from './live.ts';
import { type Loaded, load, type Sources } from './load.ts';

const own = combine(loggingSettings, healthSettings);

/** What a service declares, and what any service is told. */
export type WithOwn<S> = S & typeof own.settings;

export type ConfigurationListener<S> = ReloadListener<WithOwn<S>>;
export type FollowedConfiguration<S extends SettingGroup> = LiveConfiguration<WithOwn<S>>;

export interface FollowOptions {
  readonly pollMs?: number;
}

/** The configuration of a service as it was found at the start. */
export interface LoadedConfiguration<S extends SettingGroup> {
  readonly values: ValuesOf<WithOwn<S>>;
  /** For --print-config. */
  describe(): string;
  /** A component that follows the file from now on. */
  follow(listener: ConfigurationListener<S>, options?: FollowOptions): FollowedConfiguration<S>;
}

/** What a service declares, followed by the settings of the parts that all services have. */
export const withOwn = <S extends SettingGroup>(declared: Declared<S>): Declared<WithOwn<S>> =>
  combine(declared, own);

/** Rejects with a ConfigurationError that lists everything wrong at once. */
export async function loadConfiguration<S extends SettingGroup>(
  settings: Declared<S>,
  sources: Sources,
): Promise<LoadedConfiguration<S>> {
  const declared = withOwn(settings);
  const loaded: Loaded<WithOwn<S>> = await load(declared, sources);
  return {
    values: loaded.values,
    describe: () => describe(declared.settings, loaded),
    follow: (listener, options) => new LiveConfiguration({ declared, sources, loaded, listener, ...options }),
  };
}
