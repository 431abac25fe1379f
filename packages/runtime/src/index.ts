export { runCommand } from './command/run.ts';
export {
  type Authority,
  authorityOf,
  issueServing,
  readAuthorities,
  type ServingCertificate,
  writeAuthorities,
} from './certificates/bundle.ts';
export {
  CertificateError,
  type CertificateErrorCode,
  type CertificateFacts,
  checkKeyPair,
  readCertificate,
} from './certificates/inspect.ts';
export {
  type AuthorityRequest,
  type ClientRequest,
  createAuthority,
  issueClient,
  issueLeaf,
  type KeyPair,
  type LeafRequest,
  type Validity,
} from './certificates/issue.ts';
export { certificateCheck } from './certificates/readiness.ts';
export {
  CertificateFiles,
  type CertificateFilesOptions,
  CertificateHolder,
  type CertificateSource,
} from './certificates/source.ts';
export { type LoadedConfiguration, loadConfiguration } from './configuration/configuration.ts';
export type { Environment } from './configuration/environment.ts';
export {
  accepted,
  ConfigurationError,
  namespaceAt,
  type Reading,
} from './configuration/error.ts';
export { followConfiguration } from './configuration/follow.ts';
export type { Sources } from './configuration/load.ts';
export { type FileState, FileWatch, type FileWatchOptions } from './files/watch.ts';
export { EventLoop, type EventLoopOptions } from './health/event-loop.ts';
export type { Exposition } from './health/endpoints.ts';
export {
  debugServer,
  type DebugServerOptions,
  healthServer,
  type HealthServerOptions,
  metricsServer,
  type MetricsServerOptions,
} from './health/servers.ts';
export { answerErrors, createApp } from './http/app.ts';
export { bodyLimitBytes, type BodyOptions, readBody, readJson } from './http/body.ts';
export { HttpError } from './http/error.ts';
export {
  type DrainTimes,
  HttpServer,
  type HttpServerOptions,
  ServerError,
  type ServerErrorCode,
} from './http/server.ts';
export type { Component, StartContext } from './lifecycle/component.ts';
export { LifecycleError, type LifecycleErrorCode } from './lifecycle/error.ts';
export { unlessStopped } from './lifecycle/interrupt.ts';
export { Lifecycle, type LifecycleState } from './lifecycle/lifecycle.ts';
export { type CheckResult, Readiness, type ReadinessCheck } from './lifecycle/readiness.ts';
export {
  createLogger,
  type LogFields,
  type Logger,
  type LoggerOptions,
  type LogLevel,
  type RootLogger,
} from './logging/logger.ts';
export {
  leaderMetrics,
  reflectorMetrics,
  type RestCall,
  restClientMetrics,
} from './metrics/clients.ts';
export {
  type ReconcileOutcome,
  reconcileMetrics,
  type UnfinishedWork,
  workqueueMetrics,
} from './metrics/queues.ts';
export { Metrics } from './metrics/registry.ts';
export { certificateMetrics, webhookMetrics } from './metrics/service.ts';
export { configurationDefaults, configurationJsonSchema, reloadableKeys } from './configuration/chart.ts';
export { configurationReference } from './configuration/reference.ts';
export { metricsReference, type DeclaredMetrics } from './metrics/reference.ts';
