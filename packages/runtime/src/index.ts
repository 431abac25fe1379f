export {
  type ConfigurationListener,
  type FollowedConfiguration,
  type LoadedConfiguration,
  loadConfiguration,
} from './configuration/configuration.ts';
export type { Milliseconds } from './configuration/duration.ts';
export { formatDuration, parseDuration } from './configuration/duration.ts';
export type { Environment } from './configuration/environment.ts';
export { ConfigurationError, type ConfigurationProblem } from './configuration/error.ts';
export type { Sources } from './configuration/load.ts';
export type { Configuration } from './configuration/schema.ts';
export type { LabelRequirement, LabelSelector, Toleration } from './configuration/structures.ts';
export type { Component, StartContext } from './lifecycle/component.ts';
export { LifecycleError, type LifecycleErrorCode } from './lifecycle/error.ts';
export { Lifecycle, type LifecycleState } from './lifecycle/lifecycle.ts';
export { type RunOptions, runService } from './lifecycle/process.ts';
export { type CheckResult, Readiness, type ReadinessCheck } from './lifecycle/readiness.ts';
export {
  createLogger,
  type LogFields,
  type Logger,
  type LoggerOptions,
  type LogLevel,
  type RootLogger,
} from './logging/logger.ts';
