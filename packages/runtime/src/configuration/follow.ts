import type { RootLogger } from '../logging/logger.ts';
import type { Metrics } from '../metrics/registry.ts';
import { configurationMetrics } from '../metrics/service.ts';
import type { FollowedConfiguration, FollowOptions, LoadedConfiguration } from './configuration.ts';
import type { ConfigurationError } from './error.ts';
import type { Configuration } from './schema.ts';

export interface FollowParts extends FollowOptions {
  readonly configuration: LoadedConfiguration;
  readonly metrics: Metrics;
  readonly logger: RootLogger;
  /** New values are in force for these keys. The log's level is set already. */
  readonly changed?: (values: Configuration, keys: readonly string[]) => void;
  /** Tells those who read no logs. */
  readonly refused: (error: ConfigurationError) => void;
}

export interface Following {
  readonly live: FollowedConfiguration;
}

/** Follows the file as every service does: what changed, was refused or waits for a restart is logged and counted. */
export function followConfiguration(parts: FollowParts): Following {
  const { configuration, metrics, logger, changed, refused, ...options } = parts;
  const reloads = configurationMetrics(metrics);
  const listener = {
    changed(values: Configuration, keys: readonly string[]): void {
      reloads.changed();
      logger.setLevel(values.logging.level);
      logger.info('configuration changed', { keys });
      changed?.(values, keys);
    },
    rejected(error: ConfigurationError): void {
      reloads.rejected();
      logger.error('the changed configuration is not valid; the old one stays in force', { error });
      refused(error);
    },
    needsRestart(keys: readonly string[]): void {
      reloads.needsRestart();
      logger.warn('these changed keys need a restart', { keys });
    },
  };
  return { live: configuration.follow(listener, options) };
}
