import type { RootLogger } from '../logging/logger.ts';
import type { Metrics } from '../metrics/registry.ts';
import { configurationMetrics } from '../metrics/service.ts';
import type { FollowedConfiguration, LoadedConfiguration } from './configuration.ts';
import type { ConfigurationError } from './error.ts';
import type { Configuration } from './schema.ts';

export interface FollowParts {
  readonly configuration: LoadedConfiguration;
  readonly metrics: Metrics;
  readonly logger: RootLogger;
  /** New values are in force for these keys. The log's level is set already. */
  readonly changed?: (values: Configuration, keys: readonly string[]) => void;
  /** Tells those who read no logs. */
  readonly refused: (error: ConfigurationError) => void;
  readonly pollMs?: number;
}

export interface Following {
  readonly live: FollowedConfiguration;
  /** For a fault that only a reader of the values can find: the former ones stay in force there. */
  readonly refuse: (error: ConfigurationError) => void;
}

/** Follows the file as every service does: what changed, was refused or waits for a restart is logged and counted. */
export function followConfiguration(parts: FollowParts): Following {
  const { configuration, metrics, logger, changed, refused, pollMs } = parts;
  const reloads = configurationMetrics(metrics);
  const refuse = (error: ConfigurationError): void => {
    reloads.rejected();
    logger.error('the changed configuration is not valid; the old one stays in force', { error });
    refused(error);
  };
  const listener = {
    changed(values: Configuration, keys: readonly string[]): void {
      reloads.changed();
      logger.setLevel(values.logging.level);
      logger.info('configuration changed', { keys });
      changed?.(values, keys);
    },
    rejected: refuse,
    needsRestart(keys: readonly string[]): void {
      reloads.needsRestart();
      logger.warn('these changed keys need a restart', { keys });
    },
  };
  return { live: configuration.follow(listener, pollMs), refuse };
}
