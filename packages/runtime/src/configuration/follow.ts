import type { SettingGroup } from '@spotalis/units';
import type { RootLogger } from '../logging/logger.ts';
import type { Metrics } from '../metrics/registry.ts';
import { configurationMetrics } from '../metrics/service.ts';
import type {
  ConfigurationListener,
  FollowedConfiguration,
  FollowOptions,
  LoadedConfiguration,
} from './configuration.ts';
import type { ConfigurationError } from './error.ts';

export interface FollowParts<S extends SettingGroup> extends FollowOptions {
  readonly configuration: LoadedConfiguration<S>;
  readonly metrics: Metrics;
  readonly logger: RootLogger;
  /** New values are in force for these keys. The log's level is set already. */
  readonly changed?: (values: LoadedConfiguration<S>['values'], keys: readonly string[]) => void;
  /** Tells those who read no logs. */
  readonly refused: (error: ConfigurationError) => void;
}

export interface Following<S extends SettingGroup> {
  readonly live: FollowedConfiguration<S>;
}

/** Follows the file as every service does: what changed, was refused or waits for a restart is logged and counted. */
export function followConfiguration<S extends SettingGroup>(parts: FollowParts<S>): Following<S> {
  const { configuration, metrics, logger, changed, refused, ...options } = parts;
  const reloads = configurationMetrics(metrics);
  const listener: ConfigurationListener<S> = {
    changed(values, keys) {
      reloads.changed();
      logger.setLevel(values.logging.level);
      logger.info('configuration changed', { keys });
      changed?.(values, keys);
    },
    rejected(error) {
      reloads.rejected();
      logger.error('the changed configuration is not valid; the old one stays in force', { error });
      refused(error);
    },
    needsRestart(keys) {
      reloads.needsRestart();
      logger.warn('these changed keys need a restart', { keys });
    },
  };
  return { live: configuration.follow(listener, options) };
}
